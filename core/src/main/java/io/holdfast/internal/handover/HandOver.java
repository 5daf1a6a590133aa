package io.holdfast.internal.handover;

import io.holdfast.LossReason;
import io.holdfast.internal.handover.Waiter.Standing;
import io.holdfast.internal.run.Validity;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One lock of one process, for claims of one lease duration: the queue of those claims, the turn that holds the lock,
 * and the next turn, which already has its place at the back end.
 *
 * <ul>
 * <li>A claim joins the queue. If no turn waits at the back end, the claim takes a place there for the next turn. Later
 *     attempts for that place are those of the waiting claims.
 * <li>While a turn holds the lock, the claims of the queue get it one after the other, within {@link Bounds}, also
 *     claims that arrive during the turn.
 * <li>If the queue is empty at the end of a turn, the place of the next turn is withdrawn.
 * <li>Each owner has its own token, up to a ceiling that the back end has acknowledged for this turn.
 * <li>No lease of an owner is valid for longer than its turn. A lost turn hands nothing over.
 * </ul>
 *
 * <p>{@link ClaimRequests} handles the requests of the claims, and {@link StoreAnswers} the answers of the back end.
 * Times are nanoseconds on this process's clock; only their differences count. Not thread-safe.
 */
class HandOver {

    /** How much later than the first waiter another waiter sends the attempt for the next turn. */
    static final long PATIENCE_NANOS = 50_000_000;

    final LockKey key;
    final Duration lease;
    final long leaseNanos;
    final WaiterQueue queue = new WaiterQueue();
    final ClaimRequests requests = new ClaimRequests(this);
    final StoreAnswers answers = new StoreAnswers(this);
    private final Bounds bounds;

    /** Written only by the methods of this class. */
    @Nullable
    Turn holding;

    /** Written only by the methods of this class. */
    @Nullable
    Turn next;

    /** The number of turns so far; a part of their ids. */
    private int turns;

    /** The number of claims; counted by {@link HandOvers}. */
    int claims;

    HandOver(LockKey key, Duration lease, Bounds bounds) {
        this.key = key;
        this.lease = lease;
        leaseNanos = lease.toNanos();
        this.bounds = bounds;
    }

    /** Returns the turn after the one that holds the lock. */
    Turn next(Waiter first) {
        if (next == null) {
            next = new Turn(this, LockClaim.first(key, idOfTurn(first.id, turns++), lease, Waiting.QUEUE));
        }
        return next;
    }

    /** Keeps the owner's label at the end. */
    private static String idOfTurn(String id, int turn) {
        int mark = id.indexOf(LockClaim.OWNER_MARK);
        int end = mark < 0 ? id.length() : mark;
        return id.substring(0, end) + 't' + Integer.toString(turn, Character.MAX_RADIX) + id.substring(end);
    }

    /** Begins a turn: the back end has granted the lock to it. */
    void begin(Turn turn, long token, long until, long expires, @Nullable Waiter caller, long now, List<Effect> out) {
        Turn before = holding;
        holding = turn;
        next = null;
        if (before != null) {
            lose(before, LossReason.NOT_HELD, out); // otherwise the back end would not have granted another claim
        }
        turn.begin(token, until, expires, now);
        if (queue.isEmpty()) {
            abandon(turn, null, out);
            return;
        }
        Waiter first = promotable(caller, now);
        if (first != null) {
            own(turn, first, out);
            if (!queue.isEmpty()) {
                reserve(turn, now, out);
            }
            if (first != caller) {
                signalGrant(turn, first, now, out);
            }
        }
        if (queue.size() > bounds.mostHandOvers()) {
            push(
                    queue.last(),
                    new WatchSignal.Changed(),
                    out); // This turn does not serve it: it takes a place for the next one.
        }
    }

    /** Returns the first waiter that can get a signal, or that calls by itself. */
    @Nullable
    Waiter promotable(@Nullable Waiter caller, long now) {
        return queue.promotable(caller, leaseNanos / 2, now);
    }

    void own(Turn turn, Waiter waiter, List<Effect> out) {
        queue.remove(waiter);
        turn.own(waiter);
        attend(out);
    }

    private void signalGrant(Turn turn, Waiter owner, long now, List<Effect> out) {
        Duration counted = Duration.ofNanos(sinceAttempt(turn, owner, now));
        push(owner, new WatchSignal.Granted(owner.token, owner.attempt, counted), out);
    }

    long sinceAttempt(Turn turn, Waiter owner, long now) {
        return turn.sinceAttempt(owner);
    }

    /** Requests a token for as many owners as the turn may have: claims may still arrive. */
    void reserve(Turn turn, long now, List<Effect> out) {
        out.add(new Effect.Reserve(turn, turn.reserve(turn.token + bounds.mostHandOvers(), now)));
    }

    /** Returns whether the back end grants this token, and lower ones, to no other claim. */
    boolean isAcknowledged(Turn turn, long token) {
        return token <= turn.ceiling;
    }

    boolean isPassable(Turn turn, long now) {
        return !queue.isEmpty() && turn.isWithin(bounds, now);
    }

    /** Hands the lock to the next waiter. Returns false when the turn is over. */
    boolean handOver(Turn turn, long now, List<Effect> out) {
        boolean hasTime = turn.validUntilNanos - now >= leaseNanos / 3;
        if (!hasTime || !isPassable(turn, now) || !isAcknowledged(turn, turn.token + 1)) {
            return false;
        }
        Waiter waiter = promotable(null, now);
        if (waiter == null) {
            return false;
        }
        turn.token++;
        turn.handOvers++;
        own(turn, waiter, out);
        signalGrant(turn, waiter, now, out);
        return true;
    }

    /** Ends a turn: the lock is released at the back end, or lost there. */
    void end(Turn turn, List<Effect> out) {
        turn.owner = null;
        unwatch(turn, out);
        if (turn != holding) {
            return; // Another turn holds the lock.
        }
        holding = null;
        if (queue.isEmpty()) {
            drained(turn, out);
        } else if (next == null || !next.isArmed) {
            changed(out);
        } else {
            attend(out);
        }
    }

    /** Withdraws the next turn: the queue is empty, so the back end would grant it the lock for no claim. */
    void drained(Turn turn, List<Effect> out) {
        turn.withdrawn = withdrawNext(out);
    }

    /** Gives up the place of the next turn. Returns null if it has none. */
    @Nullable
    Turn withdrawNext(List<Effect> out) {
        Turn unwanted = next;
        next = null;
        if (unwanted != null) {
            unwanted.isReleased = true;
            unwatch(unwanted, out);
        }
        return unwanted;
    }

    boolean isStillWanted(boolean firstHasLeft) {
        return !queue.isEmpty();
    }

    private static void unwatch(Turn turn, List<Effect> out) {
        if (turn.stopWatch()) {
            out.add(new Effect.Unwatch(turn));
        }
    }

    /** Loses a turn: the back end does not keep the lock for it any more. */
    void lose(Turn turn, @Nullable LossReason reason, List<Effect> out) {
        Waiter owner = turn.owner;
        if (owner != null && reason != null) {
            push(owner, new WatchSignal.Lost(reason), out);
        }
        resume(turn, out);
        end(turn, out);
        Turn withdrawn = turn.withdrawn;
        if (withdrawn != null) {
            turn.withdrawn = null;
            out.add(new Effect.Release(withdrawn, withdrawn.claim()));
        }
    }

    /** Ends a turn that is lost or unwanted, and releases its claim at the back end. */
    void abandon(Turn turn, @Nullable LossReason reason, List<Effect> out) {
        lose(turn, reason, out);
        out.add(new Effect.Release(turn, turn.claim()));
    }

    static void resume(Turn turn, List<Effect> out) {
        if (turn.owner != null && turn.owner.standing == Standing.PASSING) {
            out.add(new Effect.Resume(turn.owner));
        }
    }

    /** Ends a turn or a lease that has expired. */
    void settle(long now, List<Effect> out) {
        Turn turn = holding;
        if (turn == null) {
            return;
        }
        if (Validity.isOver(turn.validUntilNanos, now)) {
            lose(turn, null, out); // the client of the owner detects the loss at its own deadline
            return;
        }
        Waiter owner = turn.owner;
        if (owner != null
                && !queue.isEmpty()
                && owner.standing == Standing.OWNER
                && Validity.isOver(owner.validUntilNanos, now)) {
            owner.leave();
            if (turn.isReserving || !handOver(turn, now, out)) {
                abandon(turn, null, out);
            }
        }
    }

    /** The last attempt failed. The claim that sent it tries again by itself. */
    void failed(Turn turn, @Nullable Waiter sender, List<Effect> out) {
        turn.isDue = true;
        if (turn == next && queue.first() != sender) {
            changed(out);
        }
    }

    /** Marks an attempt for the next turn as due, and signals the first waiter. */
    void changed(List<Effect> out) {
        if (next != null) {
            next.isDue = true;
        }
        push(queue.first(), new WatchSignal.Changed(), out);
    }

    /**
     * Signals the first waiter when the attempt for the next turn is due. If that waiter would send its attempt too
     * late, it gets another signal.
     */
    void attend(List<Effect> out) {
        Waiter first = queue.first();
        if (first != null
                && next != null
                && next.attemptInFlight == 0
                && (next.isDue || first.attemptsByNanos - next.attendedUntilNanos > PATIENCE_NANOS)) {
            push(first, new WatchSignal.Changed(), out);
        }
    }

    static void push(@Nullable Waiter waiter, WatchSignal signal, List<Effect> out) {
        if (waiter != null && waiter.watch != null) {
            out.add(new Effect.Push(waiter.watch, signal));
        }
    }

    @Override
    public String toString() {
        return "%s for %s: %d waiting, holding %s, next %s".formatted(key, lease, queue.size(), holding, next);
    }
}
