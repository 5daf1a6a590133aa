package io.holdfast.zookeeper;

import io.holdfast.LockBackendException;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionStateListener;
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
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/**
 * The session that is current, on a client that is borrowed.
 *
 * <p>Curator gives the handle and tells when it has opened another session. What happens to a session is heard from the handle itself:
 * Curator says nothing of one that its owner closes, and says LOST later than a rival may hold the lock.
 */
final class Sessions {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLockBackend.class);

    /** Told on the strand. */
    interface Events {

        /** Connected for the first time. */
        void opened(Session session);

        /** Connected again, and still the same session. */
        void reconnected(Session session);

        /** A server that it was connected to again gives it less time than those before. */
        void shortened(Session session);

        void disconnected(Session session);

        /** Expired, or closed by its owner. */
        void ended(Session session);

        /** The node is gone. */
        void deleted(Session session, String path);

        /** The node is another than it was. */
        void changed(Session session, String path);
    }

    /** Somebody who waits for the first connection. */
    private record Waiting(MonoSink<Session> sink, Subject subject) {}

    /** What Curator has. */
    private record Found(ZooKeeper handle, String namespace) {}

    private final Supplier<@Nullable CuratorFramework> clients;
    private final String root;
    private final Strand strand;
    private final Scheduler mayBlock;
    private final Tree tree;
    private final Events events;
    private final ConnectionStateListener listener;

    // All below: written and read on the strand, unless noted.
    private final List<Waiting> waiting = new ArrayList<>();
    private @Nullable Session session;
    private int agreedMillis;
    private boolean hadSession;
    private boolean isFetching;
    private boolean isClosed;

    /** Written by the one fetch that runs, read by the closing. */
    private volatile @Nullable CuratorFramework client;

    Sessions(
            Supplier<@Nullable CuratorFramework> clients,
            String root,
            Strand strand,
            Scheduler mayBlock,
            Tree tree,
            Events events) {
        this.clients = clients;
        this.root = root;
        this.strand = strand;
        this.mayBlock = mayBlock;
        this.tree = tree;
        this.events = events;
        listener = (changed, state) -> {
            if (state.isConnected()) {
                strand.run(this::connected);
            }
        };
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
                return Mono.error(ZooKeeperFailures.notConnected(subject, known));
            }
            return Mono.create(sink -> {
                Waiting added = new Waiting(sink, subject);
                waiting.add(added);
                sink.onCancel(() -> strand.run(() -> waiting.remove(added)));
                fetch();
            });
        });
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
        CuratorFramework borrowed = client;
        if (borrowed != null) {
            borrowed.getConnectionStateListenable().removeListener(listener);
        }
        Session last = session;
        session = null;
        if (last != null && last.isConnected()) {
            tree.stopHearing(last);
        }
        failWaiting(ZooKeeperFailures::closed);
    }

    private void connected() {
        if (!isClosed && (session == null || !session.isConnected() || !waiting.isEmpty())) {
            fetch();
        }
    }

    /** Curator may open a handle, close one and wait for locks on the way, so this is not for the strand. */
    private void fetch() {
        if (isFetching) {
            return;
        }
        isFetching = true;
        Disposable unused = Mono.fromCallable(this::find)
                .subscribeOn(mayBlock)
                .subscribe(found -> strand.run(() -> fetched(found)), error -> strand.run(() -> fetchFailed(error)));
    }

    private Found find() throws Exception {
        CuratorFramework borrowed = clients.get();
        if (borrowed == null) {
            throw ZooKeeperFailures.notJoined(new Subject("", "opening a session"));
        }
        CuratorFramework before = client;
        if (before == null || !before.equals(borrowed)) {
            borrowed.getConnectionStateListenable().addListener(listener);
            client = borrowed;
        }
        return new Found(borrowed.getZookeeperClient().getZooKeeper(), borrowed.getNamespace());
    }

    private void fetched(Found found) {
        isFetching = false;
        if (isClosed) {
            return;
        }
        Session known = session;
        ZooKeeper handle = found.handle();
        if (handle.getState() != ZooKeeper.States.CONNECTED || handle.getSessionId() == 0) {
            if (hadSession) {
                failWaiting(ZooKeeperFailures::noSession);
            }
        } else if (known != null && known.id() == handle.getSessionId()) {
            serveWaiting(known);
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
        Session opened = new Session(found.handle(), found.handle().getSessionId(), base + root, ear);
        ear.session = opened;
        session = opened;
        agreedMillis = opened.handle().getSessionTimeout();
        hadSession = true;
        hear(opened);
        events.opened(opened);
        serveWaiting(opened);
    }

    private void hear(Session of) {
        Disposable unused = tree.hear(of).subscribe(heard -> {
            if (heard.code() == Code.SESSIONEXPIRED) {
                end(of); // it ended between being found and being listened to
            }
        });
    }

    private void serveWaiting(Session with) {
        List<Waiting> served = List.copyOf(waiting);
        waiting.clear();
        served.forEach(it -> it.sink().success(with));
    }

    private void failWaiting(Function<Subject, LockBackendException> error) {
        List<Waiting> failed = List.copyOf(waiting);
        waiting.clear();
        failed.forEach(it -> it.sink().error(error.apply(it.subject())));
    }

    private void fetchFailed(Throwable error) {
        isFetching = false;
        if (error instanceof LockBackendException) {
            failWaiting(ZooKeeperFailures::notJoined);
        } else if (error instanceof IllegalStateException) {
            failWaiting(subject -> ZooKeeperFailures.clientNotRunning(subject, error));
        } else {
            LOG.warn("Curator could not open a session with ZooKeeper: {}", error.toString());
            failWaiting(subject -> ZooKeeperFailures.notOpened(subject, error));
        }
    }

    private void end(Session of) {
        if (isCurrent(of)) {
            session = null;
            events.ended(of);
        }
    }

    private void happened(Session to, WatchedEvent event) {
        if (!isCurrent(to)) {
            return;
        }
        if (event.getType() == EventType.None) {
            switch (event.getState()) {
                case SyncConnected -> connectedAgain(to);
                case Disconnected -> events.disconnected(to);
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
