package io.holdfast.internal.handover;

import static io.holdfast.internal.handover.HandOver.PATIENCE_NANOS;
import static java.util.Objects.requireNonNull;

import io.holdfast.internal.handover.Waiter.Standing;
import io.holdfast.internal.run.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decides about the requests of the claims of this process, for one lock. Not thread-safe, like {@link HandOver}. */
final class ClaimRequests {

    private static final long MILLI = 1_000_000;

    private final HandOver lock;

    ClaimRequests(HandOver lock) {
        this.lock = lock;
    }

    Reply<LockAttempt> tryAcquire(Waiter waiter, int attempt, long now, List<Effect> out) {
        lock.settle(now, out);
        if (attempt < waiter.attempt || waiter.standing == Standing.PASSING || waiter.standing == Standing.LEAVING) {
            return queued(waiter, lock.leaseNanos / 3, now); // A later attempt, or the release, has overtaken this one.
        }
        waiter.attempt = attempt;
        waiter.attemptedAtNanos = now;
        if (waiter.standing == Standing.OUTSIDE || isLost(waiter)) {
            lock.queue.add(waiter);
        }
        Turn turn = lock.holding;
        if (turn != null && turn.owner == null && waiter == lock.promotable(waiter, now)) {
            lock.own(turn, waiter, out);
        }
        return turn != null && turn.owner == waiter ? ask(turn, now) : waitForNext(waiter, now, out);
    }

    /** An owner whose turn was lost may still have the signal on its way to its client. */
    private boolean isLost(Waiter waiter) {
        return waiter.standing == Standing.OWNER && waiter.turn != lock.holding;
    }

    private Reply<LockAttempt> waitForNext(Waiter waiter, long now, List<Effect> out) {
        Turn turn = lock.next(waiter);
        if (waiter.watch != null && !turn.isWatched) {
            turn.isWatched = true;
            turn.isStarting = turn.attempt == 0;
            turn.isDue = turn.attempt > 0; // The back end must know first that a signal about its grant would arrive.
            out.add(new Effect.Watch(turn));
        }
        // The first waiter sends the attempts for all; if it does not, the other waiters do, a little later.
        boolean isFirst = waiter == lock.queue.first();
        long dueAt = isFirst ? turn.attemptAgainAtNanos : turn.attendedUntilNanos + PATIENCE_NANOS;
        if (turn.attemptInFlight != 0) {
            return queued(waiter, untilOwnerIsOver(PATIENCE_NANOS, now), now);
        }
        if (turn.attempt == 0 || turn.isDue || Validity.isOver(dueAt, now)) {
            waiter.attemptsByNanos = now;
            return ask(turn, now);
        }
        return queued(waiter, untilOwnerIsOver(dueAt - now, now), now);
    }

    /** The client of the owner may be dead. Then the next attempt after this time gets the lock. */
    private long untilOwnerIsOver(long withinNanos, long now) {
        Turn turn = lock.holding;
        if (turn == null) {
            return withinNanos;
        }
        return Math.min(withinNanos, turn.owner == null ? MILLI : turn.owner.validUntilNanos - now + MILLI);
    }

    private static Reply<LockAttempt> ask(Turn turn, long now) {
        LockClaim next = turn.nextAttempt(now);
        turn.attemptInFlight = next.attempt();
        turn.isDue = false;
        return new Reply.Ask<>(turn, next);
    }

    private Reply<LockAttempt> queued(Waiter waiter, long withinNanos, long now) {
        long within = Math.max(MILLI, Math.min(withinNanos, lock.leaseNanos / 3));
        waiter.attemptsByNanos = now + within;
        return new Reply.Answer<>(new Queued(Duration.ofNanos(within)));
    }

    Reply<Ownership> release(Waiter waiter, long now, List<Effect> out) {
        lock.settle(now, out);
        if (waiter.standing == Standing.OUTSIDE) {
            return over(waiter, Ownership.NOT_HELD);
        }
        if (waiter.standing == Standing.WAITING) {
            return leave(waiter, out);
        }
        Turn turn = requireNonNull(waiter.turn);
        if (turn == lock.holding && turn.owner == waiter) {
            if (waiter.standing == Standing.OWNER && turn.isReserving && lock.isPassable(turn, now)) {
                waiter.standing = Standing.PASSING;
                return new Reply.Later<>(waiter);
            }
            if (!turn.isReserving && lock.handOver(turn, now, out)) {
                return over(waiter, Ownership.HELD);
            }
            lock.end(turn, out);
        }
        return release(turn, waiter);
    }

    private Reply<Ownership> leave(Waiter waiter, List<Effect> out) {
        boolean wasFirst = lock.queue.first() == waiter;
        lock.queue.remove(waiter);
        Turn turn = lock.holding;
        if (turn != null && turn.owner == null && lock.queue.isEmpty()) { // granted while no waiter could be signalled
            lock.end(turn, out);
            return release(turn, waiter);
        }
        if (lock.isStillWanted(wasFirst)) {
            lock.attend(out);
            return over(waiter, Ownership.NOT_HELD);
        }
        Turn unwanted = lock.withdrawNext(out);
        return unwanted == null ? over(waiter, Ownership.NOT_HELD) : release(unwanted, waiter);
    }

    private static Reply<Ownership> release(Turn turn, Waiter waiter) {
        waiter.standing = Standing.LEAVING;
        waiter.turn = turn;
        turn.isReleased = true;
        return new Reply.Ask<>(turn, turn.claim());
    }

    private static Reply<Ownership> over(Waiter waiter, Ownership answer) {
        waiter.leave();
        return new Reply.Answer<>(answer);
    }

    /** Returns the turn whose claim is renewed for this claim; null when the claim does not hold the lock. */
    @Nullable
    Turn renewed(Waiter waiter) {
        return waiter.standing == Standing.OWNER ? waiter.turn : null;
    }

    /**
     * Returns whether the claim was lost, or given up without a confirmation, for longer than its client repeats the
     * release.
     */
    boolean isForgotten(Waiter waiter, long now) {
        boolean mayBe = waiter.standing == Standing.LEAVING || isLost(waiter);
        return mayBe && now - waiter.attemptedAtNanos > 2 * lock.leaseNanos && isOver(requireNonNull(waiter.turn), now);
    }

    private boolean isOver(Turn turn, long now) {
        return turn != lock.holding && turn != lock.next && now - turn.expiresAtNanos > lock.leaseNanos;
    }
}
