package io.holdfast.zookeeper.internal.connection;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.LockBackendException;
import io.holdfast.spi.support.Printable;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.connection.CuratorSessionSource.Found;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Tracks the current session of a borrowed client.
 *
 * <p>Curator provides the handle, and reports when it has opened another session. The handle itself reports the events of a session.
 * Curator does not report that the owner closed a session, and it reports LOST later than another client may hold the lock.
 */
public final class SessionTracker {

    private final String root;
    private final SerialExecutor executor;
    private final AsyncZooKeeper zooKeeper;
    private final SessionEvents events;
    private final SessionValidity.Factory validities;
    private final CuratorSessionSource search;
    private final SessionWaiters sessionWaiters;
    private final SessionHeartbeat heartbeat;

    // All fields below are written and read on the executor.
    private @Nullable Session session;
    private int agreedMillis;

    /** True if the request for the watch was lost, or the driver has dropped it. Then the back end does not receive the session's own events. */
    private boolean isUnwatched;

    /** When the connection of the current session was lost; 0 while it is connected. */
    private long disconnectedNanos;

    private boolean hadSession;
    private boolean isClosed;

    public SessionTracker(
            Supplier<? extends @Nullable CuratorFramework> clients,
            String root,
            SerialExecutor executor,
            Scheduler mayBlock,
            AsyncZooKeeper zooKeeper,
            SessionEvents events,
            SessionValidity.Factory validities) {
        this.root = root;
        this.executor = executor;
        this.zooKeeper = zooKeeper;
        this.events = events;
        this.validities = validities;
        search = new CuratorSessionSource(clients, executor, mayBlock, this::connected, this::ownerClosed);
        sessionWaiters = new SessionWaiters(executor, this::noSessionFor);
        heartbeat = new SessionHeartbeat(executor, this::askTheLeader, events::continued);
    }

    /**
     * Emits the current session if it is connected. Without a session, waits for one for a limited time. While an existing session is disconnected, the
     * request fails, since it must not be sent later. Subscribe on the executor.
     */
    public Mono<Session> current(Subject subject) {
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
            return sessionWaiters.await(subject, () -> search.begin(this::found, this::failed));
        });
    }

    private Duration disconnectedFor() {
        long since = disconnectedNanos;
        return since == 0 ? Duration.ZERO : Duration.ofNanos(executor.now() - since);
    }

    private LockBackendException noSessionFor(Subject subject) {
        return search.isClientClosed()
                ? ZooKeeperFailures.ownerClosed(subject)
                : ZooKeeperFailures.noServerYet(subject, search.servers(), SessionWaiters.PATIENCE);
    }

    /**
     * Fails all requests that wait for a session, and wakes all waiters in queues. If a session is still open, it ends by itself in a
     * moment.
     */
    private void ownerClosed() {
        sessionWaiters.fail(ZooKeeperFailures::ownerClosed);
        if (session == null) {
            events.ownerClosed();
        }
    }

    /** Returns the current session; null unless it is connected. */
    @Nullable
    public Session connectedNow() {
        Session known = session;
        return known != null && known.isConnected() ? known : null;
    }

    boolean isCurrent(Session other) {
        return session != null && session.is(other);
    }

    /** Stops listening to the client. The client stays open. */
    public void close() {
        isClosed = true;
        heartbeat.stop();
        search.close();
        Session last = session;
        session = null;
        if (last != null && last.isConnected()) {
            zooKeeper.stopWatching(last);
        }
        sessionWaiters.fail(ZooKeeperFailures::closed);
    }

    private void connected() {
        Session known = session;
        if (isClosed) {
            return;
        }
        if (known == null || !known.isConnected() || sessionWaiters.isAwaited()) {
            search.begin(this::found, this::failed);
        } else if (isUnwatched) {
            watchAgain(known);
        }
    }

    void askTheLeader(Session of) {
        if (!events.checkNext(of)) {
            Disposable unused = zooKeeper.sync(of, Session.TOP).subscribe();
        }
        if (isUnwatched && isCurrent(of)) {
            watchAgain(of);
        }
    }

    void found(Found found) {
        Session known = session;
        ZooKeeper handle = found.handle();
        if (handle.getState() == ZooKeeper.States.AUTH_FAILED) {
            sessionWaiters.fail(ZooKeeperFailures::notAuthenticated);
        } else if (handle.getState() != ZooKeeper.States.CONNECTED || handle.getSessionId() == 0) {
            if (hadSession) {
                sessionWaiters.fail(ZooKeeperFailures::noSession);
            }
        } else if (known != null && known.id() == handle.getSessionId()) {
            sessionWaiters.found(known);
        } else {
            adopt(found);
        }
    }

    private void adopt(Found found) {
        if (session != null) {
            end(session);
        }
        String base = found.namespace().isEmpty() ? "" : '/' + found.namespace();
        ZooKeeper handle = found.handle();
        Watcher watcher = event -> executor.run(() -> happened(handle, event));
        agreedMillis = handle.getSessionTimeout();
        SessionValidity validity = validities.found(executor.now(), agreedMillis);
        Session opened = new Session(handle, handle.getSessionId(), found.chroot(), base + root, watcher, validity);
        session = opened;
        disconnectedNanos = 0;
        hadSession = true;
        watch(opened);
        askTheLeader(opened);
        heartbeat.keep(opened);
        events.opened(opened);
        sessionWaiters.found(opened);
    }

    private void watch(Session of) {
        isUnwatched = false;
        Disposable unused = zooKeeper.watchSession(of).subscribe(watched -> {
            if (watched.code() == Code.SESSIONEXPIRED) {
                end(of); // it ended before the watch was set
            } else if (!watched.isOk() && !watched.isNoNode() && isCurrent(of)) {
                isUnwatched = true;
            }
        });
    }

    /** The session may have been reconnected meanwhile, without an event. */
    private void watchAgain(Session of) {
        watch(of);
        connectedAgain(of);
    }

    private void failed(Throwable error) {
        if (search.isClientClosed()) {
            endIfItIsOver();
            sessionWaiters.fail(ZooKeeperFailures::ownerClosed);
        } else if (error instanceof LockBackendException) {
            sessionWaiters.fail(ZooKeeperFailures::noClient);
        } else if (error instanceof IllegalStateException) {
            sessionWaiters.fail(subject -> ZooKeeperFailures.clientNotRunning(subject, error));
        } else {
            sessionWaiters.fail(subject -> ZooKeeperFailures.notOpened(subject, search.servers(), error));
            LOG.warn("Curator could not open a session with ZooKeeper: {}", Printable.text(error.toString()));
        }
    }

    /** The event of the end may come later than this. After this call, the claims of the session need no release any more. */
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

    private void happened(ZooKeeper from, WatchedEvent event) {
        Session to = session;
        if (to == null || to.handle() != from) {
            return;
        }
        if (event.getType() == EventType.None) {
            switch (event.getState()) {
                case SyncConnected -> connectedAgain(to);
                case Disconnected -> {
                    disconnectedNanos = executor.now();
                    isUnwatched |= dropsWatches(to.handle());
                    events.disconnected(to);
                }
                case Expired, Closed, AuthFailed -> end(to);
                default -> LOG.debug("{}: {}", to, event.getState());
            }
        } else if (to.watched().equals(event.getPath())) {
            watch(to);
        } else if (event.getType() == EventType.NodeDeleted) {
            events.deleted(to, event.getPath());
        } else if (event.getType() == EventType.NodeChildrenChanged) {
            events.namesChanged(to, event.getPath());
        } else {
            events.changed(to, event.getPath());
        }
    }

    /** By a setting, the driver forgets all watches with the connection. The next one is reported by Curator alone, and by the heartbeat. */
    private static boolean dropsWatches(ZooKeeper handle) {
        return handle.getClientConfig().getBoolean(ZKClientConfig.DISABLE_AUTO_WATCH_RESET);
    }

    /** Each connection negotiates the time-out again, and the leader uses the latest one. */
    private void connectedAgain(Session to) {
        int before = agreedMillis;
        disconnectedNanos = 0;
        agreedMillis = to.handle().getSessionTimeout();
        boolean isShorter = agreedMillis < before;
        if (isShorter) {
            events.shortened(to);
        }
        events.reconnected(to);
        if (isShorter) {
            LOG.warn("{} lasts {} ms from now on, and no longer {} ms", to, agreedMillis, before);
        }
    }
}
