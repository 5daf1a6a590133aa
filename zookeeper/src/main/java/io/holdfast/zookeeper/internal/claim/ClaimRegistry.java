package io.holdfast.zookeeper.internal.claim;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.LossReason;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * Records what each claim of this back end has in ZooKeeper. {@link SessionReactions} applies the events of the session to them. On the executor only.
 */
public final class ClaimRegistry {

    /** Most locks are held for a shorter time than this. */
    private static final Duration HELD_UNWATCHED = Duration.ofMillis(50);

    /** If a claim waits for longer, the server must report whether its node exists before the claim can come to the front. */
    private static final Duration IN_LINE_UNWATCHED = Duration.ofSeconds(1);

    private final Map<String, ClaimState> byClaim = new HashMap<>();

    private final Map<String, ClaimState> byOwnNode = new HashMap<>();

    private final ClaimSignals signals;
    private final AsyncZooKeeper zooKeeper;
    private final SerialExecutor executor;

    private final LeftoverNodes leftovers;
    private final LockQueues queues;

    /** Written once, when the back end closes. */
    private @Nullable Runnable atEmpty;

    private final DelayedWatches held;
    private final DelayedWatches longInLine;

    /** Starts without claims. */
    public ClaimRegistry(
            ClaimSignals signals,
            AsyncZooKeeper zooKeeper,
            SerialExecutor executor,
            Supplier<LockQueue<ClaimState>> made) {
        this.signals = signals;
        this.zooKeeper = zooKeeper;
        this.executor = executor;
        leftovers = new LeftoverNodes(zooKeeper);
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

    /** A request of the claim has ended. Advances its queue, and forgets the claim when it has nothing in ZooKeeper. */
    public void settle(ClaimState state) {
        // A claim without a node may have learned something, too.
        if (!state.isHeld() || queues.isAwaited(state)) {
            queues.advance(state);
        }
        if (state.isEmpty() && state.operations().areOver()) {
            byClaim.remove(state.id(), state);
            tellIfEmpty();
        }
    }

    /** Runs the task on the executor as soon as no claim has, or may have, anything in ZooKeeper. */
    public void whenEmpty(Runnable task) {
        atEmpty = task;
        tellIfEmpty();
    }

    private void tellIfEmpty() {
        Runnable task = atEmpty;
        if (task != null && byClaim.isEmpty()) {
            atEmpty = null;
            executor.run(task);
        }
    }

    /** The claim has a node in the queue. */
    public void entered(ClaimState state, Session session) {
        byOwnNode.put(state.knownPath(), state);
        longInLine.add(state, session);
    }

    /** The claim holds the lock from now on. If its node is deleted before the watch is set, the request for the watch reports it. */
    public void hold(ClaimState state, Session session) {
        signals.forget(state.id()); // an earlier loss does not concern this hold
        byOwnNode.put(state.knownPath(), state);
        state.hold(queues.holds(state));
        mark(state, session);
        held.add(state, session);
    }

    /**
     * Marks the node of a holder, for the next waiter of the semaphore: that waiter is at the head now, and no node was deleted that it
     * watches. A mark that fails is sent again with the next {@link SessionReactions#continued}, since that waiter does not poll.
     */
    void mark(ClaimState state, Session session) {
        String path = state.path();
        if (path == null || !state.owesMark() || !state.isIn(session)) {
            return;
        }
        state.hold(false);
        Disposable unused = zooKeeper.mark(session, path, state.claim()).subscribe(reply -> {
            if (path.equals(state.path())) {
                state.hold(!reply.isOk());
            }
            if (!reply.isOk()) {
                LOG.debug("the node of {} could not be marked, and the back end will try again: {}", state, reply);
            }
        });
    }

    /**
     * Watches the claim's own node, once for each node. If the request fails, a holder learns of the end of its node by its next renewal,
     * and a waiter by the list after a reconnect.
     */
    private void watchEnd(ClaimState state, Session session) {
        String path = state.path();
        if (path == null || byOwnNode.get(path) != state || !state.isIn(session) || state.isEndWatched()) {
            return;
        }
        state.watchesEnd();
        Disposable unused = zooKeeper.listAndWatch(session, path).subscribe(watched -> {
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

    /** The claim's node does not exist any more. If the claim held the lock, it has lost it. */
    public void gone(ClaimState state) {
        boolean wasHeld = state.isHeld();
        String path = state.path();
        guardNoLonger(state);
        state.left();
        if (path != null) {
            queues.gone(path);
        }
        if (wasHeld && !state.isWithdrawn()) {
            signals.lost(state.id(), LossReason.NOT_HELD);
        }
        settle(state);
    }

    /** The node of the claim does not exist any more. Does the same as {@link #gone}, and signals a waiter to start again. */
    void vanished(ClaimState state) {
        boolean waits = !state.isHeld() && !state.isWithdrawn();
        gone(state);
        if (waits) {
            signals.changed(state.id());
        }
    }

    /** A request failed. An attempt of the claim will report the failure. */
    void mustAttempt(ClaimState state) {
        if (state.tell()) {
            signals.changed(state.id());
        }
    }

    /**
     * The claim waits, no node is in front of it any more, and none of its attempts is under way.
     *
     * <p>A grant is counted from the newest attempt. The engine takes off a hundredth of it, for clocks of different speed. After a long wait,
     * that hundredth is too much for a session that is proved now. Such a claim is signalled to send another attempt.
     */
    void isFirst(ClaimState state, Session session) {
        boolean isProved = session.isConnected() && session.validity().suffices(executor.now());
        Duration lease = session.validity().validFrom(state.askedNanos());
        if (isProved && lease.compareTo(session.validity().timeout().multipliedBy(2)) <= 0) {
            hold(state, session);
            signals.granted(state.id(), new WatchSignal.Granted(state.zxid(), state.attempt(), lease));
        } else {
            mustAttempt(state);
        }
    }

    /** The holder knows of the loss, so its former node is deleted before the server notices that its session has ended. */
    public void giveUpOrphan(ClaimState state, @Nullable Session current) {
        String path = state.takeOrphan();
        if (path != null) {
            leftovers.delete(path, current);
        }
    }

    /** A creation was answered after its session had ended. Deletes its node. */
    public void leftBehind(String path) {
        leftovers.delete(path, queues.session());
    }

    LeftoverNodes leftovers() {
        return leftovers;
    }

    /** The session of the claim has ended. */
    void endedWith(Session session, ClaimState state) {
        String path = state.path();
        boolean isLost = state.isHeld() && !state.isWithdrawn();
        guardNoLonger(state);
        state.left();
        if (path != null && isLost) {
            state.orphaned(path);
        } else if (path != null) {
            leftovers.delete(path, null);
        }
        if (isLost) {
            LOG.debug("{} ended with {}", state, session);
            signals.lost(state.id(), LossReason.DISCONNECTED);
        }
        settle(state);
    }

    /** The server reported that a node was deleted. */
    void deleted(Session session, String path) {
        ClaimState own = byOwnNode.get(path);
        if (own != null && own.isIn(session)) {
            vanished(own);
        }
    }

    /** Returns a line for each claim that is not removed yet. */
    public List<String> contents() {
        return byClaim.values().stream().map(ClaimState::toString).toList();
    }
}
