package io.holdfast.zookeeper.internal.claim;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.LossReason;
import io.holdfast.spi.support.Fallible;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.connection.SessionEvents;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import reactor.core.Disposable;

/** Applies the events of the session to the claims of the back end. On the executor only. */
public final class SessionReactions implements SessionEvents {

    private final ClaimRegistry claims;
    private final LockQueues queues;
    private final ClaimSignals signals;
    private final AsyncZooKeeper zooKeeper;
    private final boolean failFast;
    private final Consumer<ClaimState> release;

    /**
     * Does nothing yet.
     *
     * @param failFast whether leases end when the connection is lost
     * @param release releases a claim once more whose release has failed
     */
    public SessionReactions(
            ClaimRegistry claims,
            ClaimSignals signals,
            AsyncZooKeeper zooKeeper,
            boolean failFast,
            Consumer<ClaimState> release) {
        this.claims = claims;
        this.queues = claims.queues();
        this.signals = signals;
        this.zooKeeper = zooKeeper;
        this.failFast = failFast;
        this.release = release;
    }

    @Override
    public void opened(Session session) {
        queues.connected(session);
        claims.leftovers().delete(session);
        attemptAgain();
    }

    @Override
    public void reconnected(Session session) {
        queues.connected(session);
        attemptAgain();
    }

    /** Events may have been missed while the connection was lost. A waiter reads the node that it waits for. */
    private void attemptAgain() {
        releaseAgain();
        signals.changedAll();
    }

    @Override
    public boolean checkNext(Session session) {
        ClaimState next = queues.next();
        if (next == null || !next.isIn(session)) {
            return false;
        }
        String path = next.knownPath();
        Disposable unused = zooKeeper.check(session, List.of(path)).subscribe(checked -> {
            boolean isGone = checked.isOk() && checked.get().get(0) == Code.NONODE;
            if (isGone && path.equals(next.path())) {
                claims.vanished(next);
            }
        });
        return true;
    }

    /** A node that a server refused to delete stays as long as its session, which may never end. */
    @Override
    public void continued(Session session) {
        releaseAgain();
        claims.all().forEach(state -> claims.mark(state, session));
    }

    /** Repeats failed releases, except those that are under way. */
    private void releaseAgain() {
        for (ClaimState state : claims.all()) {
            if (state.isWithdrawn() && state.operations().areOver()) {
                release.accept(state);
            }
        }
    }

    /**
     * Leases were given for a part of the longer time-out. If the connection were lost again, the server could end the session before these
     * leases end.
     */
    @Override
    public void shortened(Session session) {
        loseAll();
    }

    @Override
    public void disconnected(Session session) {
        queues.connectionLost();
        if (failFast) {
            loseAll();
        }
    }

    private void loseAll() {
        claims.all().stream()
                .filter(ClaimState::isHeld)
                .forEach(state -> signals.lost(state.id(), LossReason.DISCONNECTED));
    }

    @Override
    public void ended(Session session) {
        queues.clear();
        int lost = 0;
        for (ClaimState state : claims.all()) {
            if (state.belongsTo(session)) {
                lost++;
                claims.endedWith(session, state);
            }
        }
        if (lost > 0) {
            int all = lost;
            Fallible.tell(() -> LOG.warn(
                    "{} has ended, and with it {} lock(s) and places in queues; waiters begin again at the end of their queues",
                    session,
                    all));
        }
    }

    /** Each waiter sends another attempt, which fails. */
    @Override
    public void ownerClosed() {
        signals.changedAll();
    }

    @Override
    public void deleted(Session session, String path) {
        claims.deleted(session, path);
        queues.gone(path);
    }

    @Override
    public void namesChanged(Session session, String path) {
        queues.namesChanged(path);
    }

    @Override
    public void changed(Session session, String path) {
        queues.unsure(path);
        queues.nodeChanged(path);
    }
}
