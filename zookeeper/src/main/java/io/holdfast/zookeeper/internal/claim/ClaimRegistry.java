package io.holdfast.zookeeper.internal.claim;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.LossReason;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.connection.SessionEvents;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * All that the claims of this back end have in ZooKeeper, and what becomes of it when the session does something. On the executor only.
 */
public final class ClaimRegistry implements SessionEvents, LockQueues.Claims {

    /** Most locks are held for less. */
    private static final Duration HELD_UNWATCHED = Duration.ofMillis(50);

    /** Claims that wait for longer do not come to the front without the server having told whether their nodes are there. */
    private static final Duration IN_LINE_UNWATCHED = Duration.ofSeconds(1);

    private final Map<String, ClaimState> byClaim = new HashMap<>();

    /** By the node in front; in the order in which they came, so that a history can be run again. */
    private final Map<String, Set<ClaimState>> waitingFor = new HashMap<>();

    private final Map<String, ClaimState> byOwnNode = new HashMap<>();

    /** Nodes of sessions that have ended: gone as soon as the server notices, or sooner if we delete them. */
    private final List<String> orphans = new ArrayList<>();

    private final ClaimSignals signals;
    private final AsyncZooKeeper zooKeeper;
    private final boolean failFast;
    private final Consumer<ClaimState> withdrawal;
    private final SerialExecutor executor;

    private final LockQueues queues;
    private final DelayedWatches held;
    private final DelayedWatches longInLine;

    /**
     * Nothing yet.
     *
     * @param withdrawal tries once more to give up a place that nobody wants
     */
    public ClaimRegistry(
            ClaimSignals signals,
            AsyncZooKeeper zooKeeper,
            boolean failFast,
            Consumer<ClaimState> withdrawal,
            SerialExecutor executor,
            Supplier<LockQueue<ClaimState>> made) {
        this.signals = signals;
        this.zooKeeper = zooKeeper;
        this.failFast = failFast;
        this.withdrawal = withdrawal;
        this.executor = executor;
        queues = new LockQueues(zooKeeper, this, made);
        held = new DelayedWatches(executor, HELD_UNWATCHED, this::watchEnd);
        longInLine = new DelayedWatches(executor, IN_LINE_UNWATCHED, this::watchEnd);
    }

    public LockQueues queues() {
        return queues;
    }

    public ClaimState open(LockClaim claim) {
        return byClaim.computeIfAbsent(claim.id(), id -> new ClaimState(claim));
    }

    @Nullable
    public ClaimState find(String claimId) {
        return byClaim.get(claimId);
    }

    public List<ClaimState> all() {
        return List.copyOf(byClaim.values());
    }

    /** One of its requests has ended: forgets it when there is nothing to remember. What became possible meanwhile, happens now. */
    public void settle(ClaimState state) {
        if (!state.isHeld()) {
            queues.advance(state); // a claim without a node, too, may have learned what others wait for
        }
        if (state.isEmpty() && state.operations().areOver()) {
            byClaim.remove(state.id(), state);
        }
    }

    /** Before the watch is set: an event of it is not missed then. */
    public void expect(String path, ClaimState state) {
        expectNothing(state);
        state.waitFor(path);
        waitingFor.computeIfAbsent(path, it -> new LinkedHashSet<>(1)).add(state);
    }

    public void expectNothing(ClaimState state) {
        String path = state.waitsFor();
        if (path != null) {
            state.waitFor(null);
            waitingFor.computeIfPresent(path, (it, places) -> {
                places.remove(state);
                return places.isEmpty() ? null : places;
            });
        }
    }

    /** It has a node in the queue. */
    public void entered(ClaimState state, Session session) {
        byOwnNode.put(state.knownPath(), state);
        if (!state.isPermit()) {
            longInLine.add(state, session);
        }
    }

    /** It holds the lock from now on. What happens to its node before the watch is there is seen when it is set. */
    public void hold(ClaimState state, Session session) {
        signals.forget(state.id()); // what was lost before is not this
        byOwnNode.put(state.knownPath(), state);
        state.hold();
        queues.holds(state);
        held.add(state, session);
    }

    /**
     * Marks the node of a holder, for the next waiter of the semaphore: it is at the head now, and nothing was deleted that it could have
     * seen. A mark that fails is sent again with the next {@link #continued}, since that waiter does not poll.
     */
    public void mark(ClaimState state, Session session) {
        String path = state.path();
        if (path == null || !state.owesMark() || !state.isIn(session)) {
            return;
        }
        state.marking();
        Disposable unused = zooKeeper.mark(session, path).subscribe(reply -> {
            if (path.equals(state.path())) {
                state.marked(reply.isOk());
            }
            if (!reply.isOk()) {
                LOG.debug("{} could not be marked, it is tried again: {}", state, reply);
            }
        });
    }

    /** Once for each node. If the request fails, a renewal finds out by asking for the node, and a waiter by the list of the new connection. */
    private void watchEnd(ClaimState state, Session session) {
        String path = state.path();
        if (path == null || byOwnNode.get(path) != state || !state.isIn(session) || state.isEndWatched()) {
            return;
        }
        state.watchesEnd();
        Disposable unused = zooKeeper.watchEnd(session, path).subscribe(watched -> {
            if (watched.isNoNode() && path.equals(state.path())) {
                vanished(state);
            }
        });
    }

    public void guardNoLonger(ClaimState state) {
        if (state.path() != null) {
            byOwnNode.remove(state.knownPath());
        }
    }

    /** Its node is surely gone; whoever holds it does not any more. */
    public void gone(ClaimState state) {
        boolean wasHeld = state.isHeld();
        String path = state.path();
        guardNoLonger(state);
        expectNothing(state);
        state.left();
        if (path != null) {
            queues.gone(path);
        }
        if (wasHeld && !state.isWithdrawn()) {
            signals.lost(state.id(), LossReason.NOT_HELD);
        }
        settle(state);
    }

    /** As {@link #gone}; a waiter has to begin anew. */
    @Override
    public void vanished(ClaimState state) {
        boolean waits = !state.isHeld() && !state.isWithdrawn();
        gone(state);
        if (waits) {
            signals.changed(state.id());
        }
    }

    @Override
    public void hasToLook(ClaimState state) {
        if (state.tell()) {
            signals.changed(state.id());
        }
    }

    /**
     * A grant is counted from the newest attempt. The engine takes off a hundredth of it, for clocks of different speed: of one that waited
     * for long that would be more than is right for a session that is proved now, so such a claim is asked to make another attempt.
     */
    @Override
    public void isFirst(ClaimState state, Session session) {
        boolean isProved = session.isConnected() && session.validity().suffices(executor.now());
        Duration lease = session.validity().validFrom(state.askedNanos());
        if (isProved && lease.compareTo(session.validity().timeout().multipliedBy(2)) <= 0) {
            hold(state, session);
            signals.granted(state.id(), new WatchSignal.Granted(state.zxid(), state.attempt(), lease));
        } else {
            hasToLook(state);
        }
    }

    @Override
    public void opened(Session session) {
        queues.connected(session);
        sweep(session);
        lookAgain();
    }

    /** The holder knows of the loss, so the next one need not wait for the server to notice. */
    public void giveUpOrphan(ClaimState state, @Nullable Session current) {
        String path = state.takeOrphan();
        if (path != null) {
            orphans.add(path);
            if (current != null) {
                sweep(current);
            }
        }
    }

    /** A node of a session that has ended turned up. */
    public void leftBehind(String path) {
        orphans.add(path);
        Session current = queues.session();
        if (current != null) {
            sweep(current);
        }
    }

    /** One try each: the server ends what is left of a session by itself. */
    private void sweep(Session session) {
        for (String path : orphans) {
            Disposable unused = zooKeeper.delete(session, path).subscribe(reply -> LOG.debug("left over: {}", reply));
        }
        orphans.clear();
    }

    @Override
    public void reconnected(Session session) {
        queues.connected(session);
        lookAgain();
    }

    /** Whatever was signalled while nobody was connected may have been missed. A waiter reads the node that it waits for. */
    private void lookAgain() {
        withdrawAgain();
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
                vanished(next);
            }
        });
        return true;
    }

    /** What a server refused to give up may stay as long as the session, which nobody may ever end. */
    @Override
    public void continued(Session session) {
        withdrawAgain();
        all().forEach(state -> mark(state, session));
    }

    /** Unless that is under way. */
    private void withdrawAgain() {
        for (ClaimState state : all()) {
            if (state.isWithdrawn() && state.operations().areOver()) {
                withdrawal.accept(state);
            }
        }
    }

    /** A lease was given out for its part of the longer time; the server would end it before that if the connection were lost again. */
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
        all().stream().filter(ClaimState::isHeld).forEach(state -> signals.lost(state.id(), LossReason.DISCONNECTED));
    }

    @Override
    public void ended(Session session) {
        queues.clear();
        int lost = 0;
        for (ClaimState state : all()) {
            if (state.belongsTo(session)) {
                lost++;
                endedWithIts(session, state);
            }
        }
        if (lost > 0) {
            LOG.warn(
                    "{} has ended, and with it {} lock(s) and places in queues; those who wait go to the end of"
                            + " another queue",
                    session,
                    lost);
        }
    }

    private void endedWithIts(Session session, ClaimState state) {
        String path = state.path();
        boolean isLost = state.isHeld() && !state.isWithdrawn();
        guardNoLonger(state);
        expectNothing(state);
        state.left();
        if (path != null && isLost) {
            state.orphaned(path);
        } else if (path != null) {
            orphans.add(path);
        }
        if (isLost) {
            LOG.debug("{} ended with {}", state, session);
            signals.lost(state.id(), LossReason.DISCONNECTED);
        }
        settle(state);
    }

    /** A waiter that is told looks again, and then fails. */
    @Override
    public void ownerClosed() {
        signals.changedAll();
    }

    @Override
    public void deleted(Session session, String path) {
        ClaimState own = byOwnNode.get(path);
        if (own != null && own.isIn(session)) {
            vanished(own);
        }
        queues.gone(path);
        tellThoseThatWaitFor(path);
    }

    @Override
    public void changed(Session session, String path) {
        queues.unsure(path);
        tellThoseThatWaitFor(path);
    }

    private void tellThoseThatWaitFor(String path) {
        for (ClaimState state : waitingFor.getOrDefault(path, Set.of()).toArray(ClaimState[]::new)) {
            expectNothing(state);
            signals.changed(state.id());
        }
    }

    /** How many nodes are waited for, for tests. */
    int waitedFor() {
        return waitingFor.size();
    }

    /** What is not given up yet, a line each. */
    public List<String> contents() {
        return byClaim.values().stream().map(ClaimState::toString).toList();
    }
}
