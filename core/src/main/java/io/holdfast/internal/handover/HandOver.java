package io.holdfast.internal.handover;

import static java.util.Objects.requireNonNull;

import io.holdfast.Backoff;
import io.holdfast.LossReason;
import io.holdfast.internal.handover.Waiter.Standing;
import io.holdfast.internal.state.StoreDurations;
import io.holdfast.internal.state.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One lock of one process, for claims of one lease: the turn that holds it, and the next one, which has its place at the store already.
 *
 * <ul>
 *   <li>A claim joins the next turn, and so has the place of that at the store. The first one to join makes the turn look there; later looks
 *       are those of the claims that wait for it.
 *   <li>When the store grants a turn, its queue closes: the claims in it get the lock one after the other, within {@link Bounds}. Those that
 *       are left over go to the front of the next turn.
 *   <li>Each owner has a token of its own, up to a ceiling that the store has acknowledged for this turn.
 *   <li>An owner believes no longer than its turn is valid. A turn that is lost gives nothing more away.
 * </ul>
 *
 * <p>Times are nanoseconds on this process's clock; only their differences count. Not thread-safe.
 */
class HandOver {

    /** Signals that do not come are made up for by looks that get rarer. */
    private static final Backoff POLLS = Backoff.exponential(Duration.ofMillis(50), Duration.ofSeconds(1));

    private static final long MILLI = 1_000_000;

    private final LockKey key;
    private final Duration lease;
    private final long leaseNanos;
    private final Bounds bounds;
    private @Nullable Turn holding;
    private @Nullable Turn next;

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

    LockKey key() {
        return key;
    }

    Duration lease() {
        return lease;
    }

    /** Lost, or given up without a confirmation, for longer than its client repeats the release. */
    boolean isForgotten(Waiter waiter, long now) {
        boolean mayBe = waiter.standing == Standing.LEAVING || isLost(waiter);
        return mayBe && now - waiter.lookedAtNanos > 2 * leaseNanos && isOver(requireNonNull(waiter.turn), now);
    }

    private boolean isOver(Turn turn, long now) {
        return turn != holding && turn != next && now - turn.expiresAtNanos > leaseNanos;
    }

    boolean hasWaiters() {
        return next != null || (holding != null && holding.size > 0);
    }

    Reply<LockAttempt> look(Waiter waiter, int attempt, long now, List<Effect> out) {
        settle(now, out);
        if (attempt < waiter.attempt || waiter.standing == Standing.PASSING || waiter.standing == Standing.LEAVING) {
            return queued(leaseNanos / 3); // overtaken by a later look, or by its release
        }
        waiter.attempt = attempt;
        waiter.lookedAtNanos = now;
        if (waiter.standing == Standing.OUTSIDE || isLost(waiter)) {
            join(waiter);
        }
        Turn turn = requireNonNull(waiter.turn);
        if (turn != holding) {
            return lookForNext(turn, waiter, now, out);
        }
        if (turn.owner == null && waiter == promotable(turn, waiter, now)) {
            own(turn, waiter);
        }
        if (turn.owner == waiter) {
            return ask(turn, now);
        }
        return queued(Math.min(leaseNanos / 3, untilOwnerIsOver(turn, now)));
    }

    /** An owner whose turn was lost may still be on its way to its client. */
    private boolean isLost(Waiter waiter) {
        return waiter.standing == Standing.OWNER && waiter.turn != holding;
    }

    private void join(Waiter waiter) {
        turnToJoin(waiter).addLast(waiter);
    }

    /** Never the one that holds the lock: others wait for its end. */
    Turn turnToJoin(Waiter waiter) {
        if (next == null) {
            next = newTurn(waiter);
        }
        return next;
    }

    @Nullable
    Turn holding() {
        return holding;
    }

    private Turn newTurn(Waiter first) {
        String id = first.id + "t" + Integer.toString(turns++, Character.MAX_RADIX);
        return new Turn(this, LockClaim.first(key, id, lease, Waiting.QUEUE));
    }

    private Reply<LockAttempt> lookForNext(Turn turn, Waiter waiter, long now, List<Effect> out) {
        if (waiter.watch != null && !turn.isWatched) {
            turn.isWatched = true;
            turn.isStarting = turn.attempt == 0;
            turn.isDue = turn.attempt > 0; // the store has to know that its grant would be heard
            out.add(new Effect.Watch(turn));
        }
        long patience = waiter == turn.first ? 0 : leaseNanos / 4;
        boolean isTime = turn.attempt == 0 || turn.isDue || Validity.isOver(turn.lookAgainAtNanos + patience, now);
        if (turn.looking == 0 && isTime) {
            return ask(turn, now);
        }
        // The first one looks for all; should it not, the others do, a little later.
        long within = waiter == turn.first && turn.looking == 0 ? turn.lookAgainAtNanos - now : leaseNanos / 3;
        return queued(Math.min(within, leaseNanos / 3));
    }

    private Reply<LockAttempt> ask(Turn turn, long now) {
        LockClaim look = turn.nextLook(now);
        turn.looking = look.attempt();
        turn.isDue = false;
        return new Reply.Ask<>(turn, look);
    }

    private static Reply<LockAttempt> queued(long withinNanos) {
        return new Reply.Answer<>(new Queued(Duration.ofNanos(Math.max(MILLI, withinNanos))));
    }

    private static LockAttempt soon() {
        return new Queued(Duration.ofNanos(MILLI));
    }

    /**
     * The store answered a look.
     *
     * @return the answer for the claim that brought it about
     */
    LockAttempt looked(Turn turn, int look, @Nullable Waiter waiter, LockAttempt answer, long now, List<Effect> out) {
        settle(now, out);
        if (turn.looking == look) {
            turn.looking = 0;
        }
        if (turn != holding && turn != next) {
            if (answer instanceof Acquired && !turn.isReleased) {
                out.add(new Effect.Release(turn, turn.claim()));
            }
            return soon(); // it is over: the claim looks for another one
        }
        if (answer instanceof Acquired acquired) {
            return granted(turn, look, waiter, acquired, now, out);
        }
        if (turn == holding) {
            if (look > turn.grantedAtAttempt) {
                abandon(turn, LossReason.NOT_HELD, out);
            }
            return soon();
        }
        long within = answer instanceof Queued queued
                ? queued.lookAgainWithin().toNanos()
                : ((LockAttempt.Contended) answer).lookAgainWithin().toNanos();
        if (answer instanceof Queued && !turn.isArmed) {
            within = Math.min(within, POLLS.pause(look, 0.5).toNanos());
        }
        within = Math.min(Math.max(MILLI, within), leaseNanos / 3);
        turn.lookAgainAtNanos = now + (answer instanceof Queued ? within : 0); // without a place the client knows when
        if (turn.isDue) {
            changed(turn, out);
        }
        return answer instanceof Queued ? new Queued(Duration.ofNanos(within)) : answer;
    }

    private LockAttempt granted(
            Turn turn, int look, @Nullable Waiter waiter, Acquired acquired, long now, List<Effect> out) {
        long granted = StoreDurations.leaseNanos(acquired.lease());
        long expires = turn.sentAt(look) + granted;
        long until = Validity.until(turn.sentAt(look), granted);
        if (Validity.isOver(until, now)) {
            turn.isDue = true;
            return acquired; // the client sees that too, and knows what to do
        }
        if (turn == next) {
            begin(turn, acquired.fencingToken(), until, expires, waiter, now, out);
        } else if (acquired.fencingToken() == turn.storeToken) {
            extend(turn, until, expires);
        } else if (look > turn.grantedAtAttempt) {
            // It was lost, and was granted anew: another owner may have been between, so the block is void.
            turn.storeToken = acquired.fencingToken();
            turn.token = turn.storeToken;
            turn.ceiling = turn.storeToken;
            extend(turn, until, expires);
            if (turn.owner != null) {
                turn.owner.token = turn.token;
            }
        }
        if (waiter == null || turn.owner != waiter) {
            return soon();
        }
        waiter.validUntilNanos = turn.validUntilNanos;
        return new Acquired(waiter.token, acquired.lease());
    }

    /** It failed, or its answer is not waited for any more. */
    void lookFailed(Turn turn, int look, @Nullable Waiter waiter, List<Effect> out) {
        if (turn.looking != look) {
            return; // it was answered
        }
        turn.looking = 0;
        turn.isDue = true;
        if (turn == next && turn.first != waiter) {
            changed(turn, out);
        }
    }

    /** Tells the first waiter to look again. */
    private void changed(Turn turn, List<Effect> out) {
        turn.isDue = true;
        if (turn.first != null) {
            push(turn.first, new WatchSignal.Changed(), out);
        }
    }

    private static void push(Waiter waiter, WatchSignal signal, List<Effect> out) {
        if (waiter.watch != null) {
            out.add(new Effect.Push(waiter.watch, signal));
        }
    }

    private static void extend(Turn turn, long until, long expires) {
        if (until - turn.validUntilNanos > 0) {
            turn.validUntilNanos = until;
            turn.expiresAtNanos = expires;
        }
        turn.isDoubted = false;
    }

    /** The store has granted the lock to the next turn. Its queue closes. */
    private void begin(
            Turn turn, long token, long until, long expires, @Nullable Waiter caller, long now, List<Effect> out) {
        if (holding != null) {
            lose(holding, LossReason.NOT_HELD, out); // or the store would not have granted another claim
        }
        next = null;
        holding = turn;
        turn.grantedAtAttempt = turn.attempt;
        turn.token = token;
        turn.storeToken = token;
        turn.ceiling = token;
        turn.validUntilNanos = until;
        turn.expiresAtNanos = expires;
        turn.begunAtNanos = now;
        close(turn, out);
        Waiter first = promotable(turn, caller, now);
        if (first == null && turn.first == null) {
            abandon(turn, LossReason.NOT_HELD, out);
            return;
        }
        if (first != null) {
            own(turn, first);
            if (turn.size > 0) {
                reserve(turn, now, out);
            }
            if (first != caller) {
                tellOwner(turn, first, now, out);
            }
        }
    }

    /** Only so many are served; the others keep their order and get a place of their own at once. */
    private void close(Turn turn, List<Effect> out) {
        while (turn.size > bounds.mostHandOvers() + 1) {
            Waiter last = requireNonNull(turn.last);
            turn.remove(last);
            if (next == null) {
                next = newTurn(last);
            }
            next.addFirst(last);
        }
        if (next != null) {
            changed(next, out);
        }
    }

    private void own(Turn turn, Waiter waiter) {
        turn.remove(waiter);
        turn.owner = waiter;
        waiter.standing = Standing.OWNER;
        waiter.token = turn.token;
        waiter.validUntilNanos = turn.validUntilNanos;
    }

    private void tellOwner(Turn turn, Waiter owner, long now, List<Effect> out) {
        Duration counted = Duration.ofNanos(sinceLook(turn, owner, now));
        push(owner, new WatchSignal.Granted(owner.token, owner.attempt, counted), out);
    }

    /** So much from its look that its client computes a deadline which is that of the turn at the latest. */
    long sinceLook(Turn turn, Waiter owner, long now) {
        long toExpiry = turn.expiresAtNanos - owner.lookedAtNanos;
        if (Validity.until(owner.lookedAtNanos, toExpiry) - turn.validUntilNanos > 0) {
            long valid = turn.validUntilNanos - owner.lookedAtNanos;
            return Math.max(0, valid + valid / 100 + 2 * MILLI);
        }
        return toExpiry;
    }

    void reserve(Turn turn, long now, List<Effect> out) {
        turn.isReserving = true;
        long floor = turn.token + Math.min(turn.size, bounds.mostHandOvers());
        out.add(new Effect.Reserve(
                turn, turn.nextLook(now).withWaiting(Waiting.NONE).withTokenFloor(floor)));
    }

    /** The store answered {@link Effect.Reserve}. */
    void reserved(Turn turn, LockClaim asked, LockAttempt answer, long now, List<Effect> out) {
        settle(now, out);
        turn.isReserving = false;
        if (turn == holding) {
            if (!(answer instanceof Acquired acquired)) {
                abandon(turn, LossReason.NOT_HELD, out);
            } else if (acquired.fencingToken() == asked.tokenFloor()) {
                // It was valid until this answer came, so no other claim was granted before the store acknowledged
                // this.
                long sent = turn.sentAt(asked.attempt());
                long granted = StoreDurations.leaseNanos(acquired.lease());
                turn.storeToken = asked.tokenFloor();
                turn.ceiling = asked.tokenFloor();
                turn.begunAtNanos = now;
                extend(turn, Validity.until(sent, granted), sent + granted);
            } else {
                turn.storeToken = acquired.fencingToken(); // not the block that was asked for: nothing is handed over
            }
        } else if (answer instanceof Acquired && !turn.isReleased) {
            out.add(new Effect.Release(turn, turn.claim())); // it was lost before, and this look has taken it again
        }
        resume(turn, out);
    }

    /** It failed: nothing is handed over in this turn. */
    void reserveFailed(Turn turn, List<Effect> out) {
        turn.isReserving = false;
        resume(turn, out);
    }

    private static void resume(Turn turn, List<Effect> out) {
        if (turn.owner != null && turn.owner.standing == Standing.PASSING) {
            out.add(new Effect.Resume(turn.owner));
        }
    }

    Reply<Ownership> release(Waiter waiter, long now, List<Effect> out) {
        settle(now, out);
        Turn turn = waiter.turn;
        if (turn == null || waiter.standing == Standing.OUTSIDE) {
            return over(waiter, Ownership.NOT_HELD);
        }
        if (waiter.standing == Standing.WAITING) {
            return leave(turn, waiter, out);
        }
        if (turn == holding && turn.owner == waiter) {
            if (waiter.standing == Standing.OWNER && turn.isReserving && isPassable(turn, now)) {
                waiter.standing = Standing.PASSING;
                return new Reply.Later<>(waiter);
            }
            if (!turn.isReserving && handOver(turn, now, out)) {
                return over(waiter, Ownership.HELD);
            }
            end(turn, out);
        }
        return release(turn, waiter);
    }

    private static Reply<Ownership> over(Waiter waiter, Ownership answer) {
        over(waiter);
        return new Reply.Answer<>(answer);
    }

    private Reply<Ownership> leave(Turn turn, Waiter waiter, List<Effect> out) {
        boolean wasFirst = turn.first == waiter;
        turn.remove(waiter);
        boolean isOfNoUse = turn == next ? !isStillWanted(turn, wasFirst) : turn == holding && isIdle(turn);
        if (!isOfNoUse) {
            if (turn == next && turn.isDue) {
                changed(turn, out);
            } else if (turn == next && wasFirst && turn.first != null) {
                push(turn.first, new WatchSignal.Changed(), out); // it looks for all from now on, when that is due
            }
            return over(waiter, Ownership.NOT_HELD);
        }
        if (turn == holding) {
            end(turn, out);
        } else {
            next = null;
            unwatch(turn, out);
        }
        return turn.attempt == 0 ? over(waiter, Ownership.NOT_HELD) : release(turn, waiter);
    }

    /** Granted, when none of its waiters could be told. */
    private static boolean isIdle(Turn turn) {
        return turn.owner == null && turn.size == 0;
    }

    private static Reply<Ownership> release(Turn turn, Waiter waiter) {
        waiter.standing = Standing.LEAVING;
        turn.isReleased = true;
        return new Reply.Ask<>(turn, turn.claim());
    }

    boolean isStillWanted(Turn turn, boolean firstHasLeft) {
        return turn.size > 0;
    }

    private boolean isPassable(Turn turn, long now) {
        return turn.size > 0
                && turn.handOvers < bounds.mostHandOvers()
                && now - turn.begunAtNanos < bounds.nanos()
                && !turn.isDoubted;
    }

    /** False when the turn is over. */
    private boolean handOver(Turn turn, long now, List<Effect> out) {
        boolean hasTime = turn.validUntilNanos - now >= leaseNanos / 3;
        if (!isPassable(turn, now) || !hasTime || !isAcknowledged(turn, turn.token + 1)) {
            return false;
        }
        Waiter waiter = promotable(turn, null, now);
        if (waiter == null) {
            return false;
        }
        turn.token++;
        turn.handOvers++;
        own(turn, waiter);
        tellOwner(turn, waiter, now, out);
        return true;
    }

    /** Whether the store gives no other claim that token, or a lower one. */
    boolean isAcknowledged(Turn turn, long token) {
        return token <= turn.ceiling;
    }

    /** The first one that hears of it, or asks for it itself. */
    private @Nullable Waiter promotable(Turn turn, @Nullable Waiter caller, long now) {
        Waiter waiter = turn.first;
        while (waiter != null && waiter != caller && (waiter.watch == null || isStale(waiter, now))) {
            waiter = waiter.behind;
        }
        return waiter;
    }

    private boolean isStale(Waiter waiter, long now) {
        return now - waiter.lookedAtNanos >= leaseNanos / 2;
    }

    /** The lock is given back to the store; what is left of the queue goes to the front of the next turn. */
    private void end(Turn turn, List<Effect> out) {
        holding = null;
        turn.owner = null;
        unwatch(turn, out);
        if (turn.size == 0) {
            return;
        }
        if (next == null) {
            next = newTurn(requireNonNull(turn.first));
        }
        for (Waiter last = turn.last; last != null; last = turn.last) {
            turn.remove(last);
            next.addFirst(last);
        }
        changed(next, out);
    }

    private static void unwatch(Turn turn, List<Effect> out) {
        turn.isUnwatched = true;
        if (turn.isWatched) {
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
    }

    /** Lost, or not wanted; what the store may have of it is released. */
    private void abandon(Turn turn, @Nullable LossReason told, List<Effect> out) {
        lose(turn, told, out);
        out.add(new Effect.Release(turn, turn.claim()));
    }

    private long untilOwnerIsOver(Turn turn, long now) {
        Waiter owner = turn.owner;
        return owner == null ? MILLI : owner.validUntilNanos - now + MILLI;
    }

    /** What time has ended. */
    private void settle(long now, List<Effect> out) {
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
                && turn.size > 0
                && owner.standing == Standing.OWNER
                && Validity.isOver(owner.validUntilNanos, now)) {
            over(owner);
            if (turn.isReserving || !handOver(turn, now, out)) {
                abandon(turn, null, out);
            }
        }
    }

    private static void over(Waiter owner) {
        owner.standing = Standing.OUTSIDE;
        owner.turn = null;
    }

    /** The turn whose claim is renewed for it; null when it does not hold. */
    @Nullable
    Turn renewed(Waiter waiter) {
        return waiter.standing == Standing.OWNER ? waiter.turn : null;
    }

    /** The store answered a renewal of the owner's. */
    void renewalAnswered(
            Turn turn, @Nullable Waiter waiter, long sentAtNanos, Renewal answer, long now, List<Effect> out) {
        if (answer instanceof Renewal.Held held) {
            long granted = StoreDurations.leaseNanos(held.lease());
            long until = Validity.until(sentAtNanos, granted);
            boolean wasOver = Validity.isOver(turn.validUntilNanos, now);
            if (!wasOver) {
                extend(turn, until, sentAtNanos + granted);
            }
            if (waiter != null && turn.owner == waiter && until - waiter.validUntilNanos > 0) {
                waiter.validUntilNanos = until;
            }
        } else if (answer instanceof Renewal.NotHeld) {
            if (turn == holding) {
                lose(turn, turn.owner == waiter ? null : LossReason.NOT_HELD, out);
            }
        } else {
            turn.isDoubted = true;
        }
        settle(now, out);
    }

    /** The store signalled something about the turn's claim. */
    void signalled(Turn turn, WatchSignal signal, long now, List<Effect> out) {
        settle(now, out);
        if (signal instanceof WatchSignal.Armed) {
            turn.isArmed = true;
        }
        if (turn == holding) {
            signalledToOwner(turn, signal, out);
        } else if (turn == next) {
            signalledToWaiters(turn, signal, now, out);
        }
    }

    private void signalledToOwner(Turn turn, WatchSignal signal, List<Effect> out) {
        if (signal instanceof WatchSignal.Lost lost) {
            lose(turn, lost.reason(), out);
        } else if (!(signal instanceof WatchSignal.Granted) && turn.owner != null) {
            push(turn.owner, new WatchSignal.Changed(), out);
        }
    }

    private void signalledToWaiters(Turn turn, WatchSignal signal, long now, List<Effect> out) {
        if (signal instanceof WatchSignal.Granted granted && turn.knows(granted.attempt())) {
            long sent = turn.sentAt(granted.attempt());
            long lasts = StoreDurations.leaseNanos(granted.lease());
            long until = Validity.until(sent, lasts);
            if (!Validity.isOver(until, now)) {
                begin(turn, granted.fencingToken(), until, sent + lasts, null, now, out);
                return;
            }
        }
        if (turn.attempt > 0 && !turn.isStarting) {
            changed(turn, out);
        }
    }

    /** The signals about the turn's claim have stopped. */
    void signalsStopped(Turn turn, List<Effect> out) {
        turn.isArmed = false;
        if (turn == next) {
            changed(turn, out);
        } else if (turn == holding && turn.owner != null) {
            push(turn.owner, new WatchSignal.Changed(), out);
        }
    }

    @Override
    public String toString() {
        return "%s for %s: holding %s, next %s".formatted(key, lease, holding, next);
    }
}
