package io.holdfast.internal.handover;

import io.holdfast.LossReason;
import io.holdfast.internal.handover.Waiter.Standing;
import io.holdfast.internal.state.Validity;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One lock of one process, for claims of one lease: the queue of those claims, the turn that holds the lock, and the next turn, which has its
 * place at the store already.
 *
 * <ul>
 *   <li>A claim joins the queue. If no turn has a place at the store, or only the one that holds the lock, the claim takes a place for the next
 *       turn. Later looks for that are those of the claims that wait.
 *   <li>While a turn holds the lock, the claims of the queue get it one after the other, within {@link Bounds}, also those that come meanwhile.
 *   <li>If the queue is empty at the end of a turn, the place of the next one is given up.
 *   <li>Each owner has a token of its own, up to a ceiling that the store has acknowledged for this turn.
 *   <li>An owner believes no longer than its turn is valid. A turn that is lost gives nothing more away.
 * </ul>
 *
 * <p>{@link ClaimRequests} has what the claims ask for, and {@link StoreAnswers} what the store says. Times are nanoseconds on this process's
 * clock; only their differences count. Not thread-safe.
 */
class HandOver {

    /** A waiter that need not look for the next turn does so that much later than the first one should have. */
    static final long PATIENCE_NANOS = 50_000_000;

    final LockKey key;
    final Duration lease;
    final long leaseNanos;
    final WaiterQueue queue = new WaiterQueue();
    final ClaimRequests requests = new ClaimRequests(this);
    final StoreAnswers answers = new StoreAnswers(this);
    private final Bounds bounds;

    /** Written by the methods below only. */
    @Nullable
    Turn holding;

    /** Written by the methods below only. */
    @Nullable
    Turn next;

    /** How many turns there were; a part of their names. */
    private int turns;

    /** How many claims there are; counted by {@link HandOvers}. */
    int claims;

    HandOver(LockKey key, Duration lease, Bounds bounds) {
        this.key = key;
        this.lease = lease;
        leaseNanos = lease.toNanos();
        this.bounds = bounds;
    }

    /** The turn after the one that holds the lock. */
    Turn next(Waiter first) {
        if (next == null) {
            next = new Turn(this, LockClaim.first(key, idOfTurn(first.id, turns++), lease, Waiting.QUEUE));
        }
        return next;
    }

    /** The owner's label stays at the end. */
    private static String idOfTurn(String id, int turn) {
        int mark = id.indexOf(LockClaim.OWNER_MARK);
        int end = mark < 0 ? id.length() : mark;
        return id.substring(0, end) + 't' + Integer.toString(turn, Character.MAX_RADIX) + id.substring(end);
    }

    /** The store has granted the lock to the next turn. */
    void begin(Turn turn, long token, long until, long expires, @Nullable Waiter caller, long now, List<Effect> out) {
        Turn before = holding;
        holding = turn;
        next = null;
        if (before != null) {
            lose(before, LossReason.NOT_HELD, out); // or the store would not have granted another claim
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
                tellOwner(turn, first, now, out);
            }
        }
        if (queue.size() > bounds.mostHandOvers()) {
            push(
                    queue.last(),
                    new WatchSignal.Changed(),
                    out); // not served in this turn: it takes a place for the next
        }
    }

    /** The first one that hears of it, or asks for it itself. */
    @Nullable
    Waiter promotable(@Nullable Waiter caller, long now) {
        return queue.promotable(caller, leaseNanos / 2, now);
    }

    void own(Turn turn, Waiter waiter, List<Effect> out) {
        queue.remove(waiter);
        turn.own(waiter);
        attend(out);
    }

    private void tellOwner(Turn turn, Waiter owner, long now, List<Effect> out) {
        Duration counted = Duration.ofNanos(sinceAttempt(turn, owner, now));
        push(owner, new WatchSignal.Granted(owner.token, owner.attempt, counted), out);
    }

    long sinceAttempt(Turn turn, Waiter owner, long now) {
        return turn.sinceAttempt(owner);
    }

    /** For as many owners as the turn may have: claims may still come. */
    void reserve(Turn turn, long now, List<Effect> out) {
        out.add(new Effect.Reserve(turn, turn.reserve(turn.token + bounds.mostHandOvers(), now)));
    }

    /** Whether the store gives no other claim that token, or a lower one. */
    boolean isAcknowledged(Turn turn, long token) {
        return token <= turn.ceiling;
    }

    boolean isPassable(Turn turn, long now) {
        return !queue.isEmpty() && turn.isWithin(bounds, now);
    }

    /** False when the turn is over. */
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
        tellOwner(turn, waiter, now, out);
        return true;
    }

    /** The lock is given back to the store, or lost there. */
    void end(Turn turn, List<Effect> out) {
        turn.owner = null;
        unwatch(turn, out);
        if (turn != holding) {
            return; // another one holds it
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

    /** The store would grant the lock to the next turn for no claim. */
    void drained(Turn turn, List<Effect> out) {
        turn.withdrawn = withdrawNext(out);
    }

    /** Its place is given up. Null if it has none. */
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

    /** The store does not hold it for this turn any more. */
    void lose(Turn turn, @Nullable LossReason told, List<Effect> out) {
        Waiter owner = turn.owner;
        if (owner != null && told != null) {
            push(owner, new WatchSignal.Lost(told), out);
        }
        resume(turn, out);
        end(turn, out);
        Turn withdrawn = turn.withdrawn;
        if (withdrawn != null) {
            turn.withdrawn = null;
            out.add(new Effect.Release(withdrawn, withdrawn.claim()));
        }
    }

    /** Lost, or not wanted; what the store may have of it is released. */
    void abandon(Turn turn, @Nullable LossReason told, List<Effect> out) {
        lose(turn, told, out);
        out.add(new Effect.Release(turn, turn.claim()));
    }

    static void resume(Turn turn, List<Effect> out) {
        if (turn.owner != null && turn.owner.standing == Standing.PASSING) {
            out.add(new Effect.Resume(turn.owner));
        }
    }

    /** What time has ended. */
    void settle(long now, List<Effect> out) {
        Turn turn = holding;
        if (turn == null) {
            return;
        }
        if (Validity.isOver(turn.validUntilNanos, now)) {
            lose(turn, null, out); // the client of the owner knows by its own deadline
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

    /** The last attempt brought nothing. The claim that looked tries again by itself. */
    void failed(Turn turn, @Nullable Waiter looked, List<Effect> out) {
        turn.isDue = true;
        if (turn == next && queue.first() != looked) {
            changed(out);
        }
    }

    /** The next turn should be looked for now. */
    void changed(List<Effect> out) {
        if (next != null) {
            next.isDue = true;
        }
        push(queue.first(), new WatchSignal.Changed(), out);
    }

    /** The first waiter looks for all when that is due. One that was told to look later than that is told again. */
    void attend(List<Effect> out) {
        Waiter first = queue.first();
        if (first != null
                && next != null
                && next.looking == 0
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
