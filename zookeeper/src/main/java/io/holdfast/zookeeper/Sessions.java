package io.holdfast.zookeeper;

import io.holdfast.LockBackendException;
import io.holdfast.spi.Printable;
import io.holdfast.zookeeper.Search.Found;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The session that is current, on a client that is borrowed.
 *
 * <p>Curator gives the handle and tells when it has opened another session. What happens to a session is heard from the handle itself:
 * Curator says nothing of one that its owner closes, and says LOST later than a rival may hold the lock.
 */
final class Sessions implements Search.Outcome, Pulse.Beat {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLockBackend.class);

    /** Told on the strand. */
    interface Events {

        /** Connected for the first time. */
        void opened(Session session);

        /** Connected again, and still the same session. */
        void reconnected(Session session);

        /** A server that it was connected to again gives it less time than those before. */
        void shortened(Session session);

        /** Still connected; from time to time. */
        void continued(Session session);

        void disconnected(Session session);

        /** Expired, or closed by its owner. */
        void ended(Session session);

        /** The owner of the client has closed it: there will not be another session. */
        void ownerClosed();

        /**
         * The leader is to be asked something. Sends a check for a claim that is about to get its lock, which proves the session, too.
         *
         * @return false when there is no such claim
         */
        boolean checkNext(Session session);

        /** The node is gone. */
        void deleted(Session session, String path);

        /** The node is another than it was. */
        void changed(Session session, String path);
    }

    private final String root;
    private final Strand strand;
    private final Tree tree;
    private final Events events;
    private final Parts.Proofs proofs;
    private final Search search;
    private final FirstConnection firstConnection;
    private final Pulse pulse;

    // All below: written and read on the strand.
    private @Nullable Session session;
    private int agreedMillis;

    /** Whether the session's own changes are not heard of: the request for the watch was lost. */
    private boolean isDeaf;

    /** When the connection of the current session was lost; 0 while it is there. */
    private long disconnectedNanos;

    private boolean hadSession;
    private boolean isClosed;

    Sessions(
            Supplier<? extends @Nullable CuratorFramework> clients,
            String root,
            Strand strand,
            Scheduler mayBlock,
            Tree tree,
            Events events,
            Parts.Proofs proofs) {
        this.root = root;
        this.strand = strand;
        this.tree = tree;
        this.events = events;
        this.proofs = proofs;
        search = new Search(clients, strand, mayBlock, this::connected, this::ownerClosed);
        firstConnection = new FirstConnection(strand, this::noSessionFor);
        pulse = new Pulse(strand, this);
    }

    /**
     * The current session, if it is connected. Waits only for the first connection of all; after that a request that cannot be sent now
     * fails, since it must not be sent later. Subscribe on the strand.
     */
    Mono<Session> current(Subject subject) {
        return Mono.defer(() -> {
            Session known = session;
            if (isClosed) {
                return Mono.error(ZooKeeperFailures.closed(subject));
            }
            if (known != null && known.isConnected()) {
                return Mono.just(known);
            }
            if (known != null && known.isAlive()) {
                return Mono.error(ZooKeeperFailures.notConnected(subject, known, search.servers(), disconnectedFor()));
            }
            return firstConnection.await(subject, () -> search.begin(this));
        });
    }

    private Duration disconnectedFor() {
        long since = disconnectedNanos;
        return since == 0 ? Duration.ZERO : Duration.ofNanos(strand.now() - since);
    }

    private LockBackendException noSessionFor(Subject subject, Duration tried) {
        return search.isClientClosed()
                ? ZooKeeperFailures.ownerClosed(subject)
                : ZooKeeperFailures.noServerYet(subject, search.servers(), tried);
    }

    /** What waits for a session, or in a queue, has nothing to wait for. A session that is still open ends by itself in a moment. */
    private void ownerClosed() {
        firstConnection.fail(ZooKeeperFailures::ownerClosed);
        if (session == null) {
            events.ownerClosed();
        }
    }

    /** The current session; null unless it is connected. */
    @Nullable
    Session connectedNow() {
        Session known = session;
        return known != null && known.isConnected() ? known : null;
    }

    boolean isCurrent(Session other) {
        return session != null && session.is(other);
    }

    /** Stops listening to the client, which goes on. */
    void close() {
        isClosed = true;
        pulse.stop();
        search.close();
        Session last = session;
        session = null;
        if (last != null && last.isConnected()) {
            tree.stopHearing(last);
        }
        firstConnection.fail(ZooKeeperFailures::closed);
    }

    private void connected() {
        Session known = session;
        if (isClosed) {
            return;
        }
        if (known == null || !known.isConnected() || firstConnection.isAwaited()) {
            search.begin(this);
        } else if (isDeaf) {
            hearAgain(known);
        }
    }

    @Override
    public void always(Session of) {
        events.continued(of);
    }

    @Override
    public void askTheLeader(Session of) {
        if (!events.checkNext(of)) {
            Disposable unused = tree.sync(of, Session.EAR).subscribe();
        }
        if (isDeaf && isCurrent(of)) {
            hearAgain(of);
        }
    }

    @Override
    public void found(Found found) {
        Session known = session;
        ZooKeeper handle = found.handle();
        if (handle.getState() != ZooKeeper.States.CONNECTED || handle.getSessionId() == 0) {
            if (hadSession) {
                firstConnection.fail(ZooKeeperFailures::noSession);
            }
        } else if (known != null && known.id() == handle.getSessionId()) {
            firstConnection.found(known);
        } else {
            adopt(found);
        }
    }

    private void adopt(Found found) {
        if (session != null) {
            end(session);
        }
        String base = found.namespace().isEmpty() ? "" : '/' + found.namespace();
        Ear ear = new Ear();
        agreedMillis = found.handle().getSessionTimeout();
        SessionProof proof = proofs.found(strand.now(), agreedMillis);
        Session opened = new Session(found.handle(), found.handle().getSessionId(), base + root, ear, proof);
        ear.session = opened;
        session = opened;
        disconnectedNanos = 0;
        hadSession = true;
        hear(opened);
        askTheLeader(opened);
        pulse.keep(opened);
        events.opened(opened);
        firstConnection.found(opened);
    }

    private void hear(Session of) {
        isDeaf = false;
        Disposable unused = tree.hear(of).subscribe(heard -> {
            if (heard.code() == Code.SESSIONEXPIRED) {
                end(of); // it ended between being found and being listened to
            } else if (!heard.isOk() && isCurrent(of)) {
                isDeaf = true;
            }
        });
    }

    /** It may have been connected anew meanwhile, without being heard. */
    private void hearAgain(Session of) {
        hear(of);
        connectedAgain(of);
    }

    @Override
    public void failed(Throwable error) {
        if (search.isClientClosed()) {
            endIfItIsOver();
            firstConnection.fail(ZooKeeperFailures::ownerClosed);
        } else if (error instanceof LockBackendException) {
            firstConnection.fail(ZooKeeperFailures::noClient);
        } else if (error instanceof IllegalStateException) {
            firstConnection.fail(subject -> ZooKeeperFailures.clientNotRunning(subject, error));
        } else {
            LOG.warn("Curator could not open a session with ZooKeeper: {}", Printable.text(error.toString()));
            firstConnection.fail(subject -> ZooKeeperFailures.notOpened(subject, search.servers(), error));
        }
    }

    /** Its event may come later than this: what was in it has not to be released any more. */
    private void endIfItIsOver() {
        Session known = session;
        if (known != null && !known.isAlive()) {
            end(known);
        }
    }

    private void end(Session of) {
        if (isCurrent(of)) {
            session = null;
            events.ended(of);
            if (search.isClientClosed()) {
                ownerClosed();
            }
        }
    }

    private void happened(Session to, WatchedEvent event) {
        if (!isCurrent(to)) {
            return;
        }
        if (event.getType() == EventType.None) {
            switch (event.getState()) {
                case SyncConnected -> connectedAgain(to);
                case Disconnected -> {
                    disconnectedNanos = strand.now();
                    events.disconnected(to);
                }
                case Expired, Closed, AuthFailed -> end(to);
                default -> LOG.debug("{}: {}", to, event.getState());
            }
        } else if (Session.EAR.equals(event.getPath())) {
            hear(to);
        } else if (event.getType() == EventType.NodeDeleted) {
            events.deleted(to, event.getPath());
        } else {
            events.changed(to, event.getPath());
        }
    }

    /** Each connection agrees on the time-out anew, and the leader counts with the latest. */
    private void connectedAgain(Session to) {
        int before = agreedMillis;
        disconnectedNanos = 0;
        agreedMillis = to.handle().getSessionTimeout();
        if (agreedMillis < before) {
            LOG.warn("{} lasts {} ms from now on, and no longer {} ms", to, agreedMillis, before);
            events.shortened(to);
        }
        events.reconnected(to);
    }

    /** Called on ZooKeeper's event thread: hands over and returns. */
    private final class Ear implements Watcher {

        /** Written once, before it is given to the driver. */
        private @Nullable Session session;

        @Override
        public void process(WatchedEvent event) {
            Session of = session;
            if (of != null) {
                strand.run(() -> happened(of, event));
            }
        }
    }
}
