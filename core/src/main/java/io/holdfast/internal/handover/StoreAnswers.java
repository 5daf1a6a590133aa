package io.holdfast.internal.handover;

import io.holdfast.Backoff;
import io.holdfast.LossReason;
import io.holdfast.internal.run.StoreDurations;
import io.holdfast.internal.run.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Handles the back end's answers about the turns of one lock. Not thread-safe, like {@link HandOver}. */
final class StoreAnswers {

    /** The pauses between attempts, increasingly long, while signals do not arrive. */
    private static final Backoff POLLS = Backoff.exponential(Duration.ofMillis(50), Duration.ofSeconds(1));

    /**
     * A back end remembers a release for longer than this. A later answer may be to an attempt that arrived when the
     * back end had forgotten the release.
     */
    private static final long LATE_NANOS = Duration.ofSeconds(4).toNanos();

    private static final long MILLI = 1_000_000;

    private final HandOver lock;

    StoreAnswers(HandOver lock) {
        this.lock = lock;
    }

    /**
     * Handles an answer to an attempt.
     *
     * @param waiter the claim that sent it; the lock may have been handed to it meanwhile
     * @return the answer for that claim
     */
    LockAttempt answered(
            Turn turn, int attempt, @Nullable Waiter waiter, LockAttempt answer, long now, List<Effect> out) {
        lock.settle(now, out);
        if (turn.attemptInFlight == attempt) {
            turn.attemptInFlight = 0;
        }
        if (turn != lock.holding && turn != lock.next) {
            if (answer instanceof Acquired && isToBeReleased(turn, attempt, now)) {
                out.add(new Effect.Release(turn, turn.claim()));
            }
            return soon(); // the turn is over: the claim sends an attempt for another one
        }
        if (answer instanceof Acquired acquired) {
            return granted(turn, attempt, waiter, acquired, now, out);
        }
        if (turn == lock.holding) {
            if (attempt > turn.grantedAtAttempt) {
                lock.abandon(turn, LossReason.NOT_HELD, out);
            }
            return soon();
        }
        return notYet(turn, attempt, waiter, answer, now, out);
    }

    private LockAttempt notYet(
            Turn turn, int attempt, @Nullable Waiter waiter, LockAttempt answer, long now, List<Effect> out) {
        long within = StoreDurations.pauseNanos(
                answer instanceof Queued queued
                        ? queued.nextAttemptWithin()
                        : ((LockAttempt.Contended) answer).nextAttemptWithin());
        if (answer instanceof Queued && !turn.isArmed) {
            within = Math.min(within, POLLS.pause(attempt, 0.5).toNanos());
        }
        within = Math.min(within, lock.leaseNanos / 3);
        turn.attendedUntilNanos = now + within;
        turn.attemptAgainAtNanos =
                // Without a place, the client of the waiter decides when to send the next attempt.
                answer instanceof Queued ? now + within : now;
        if (waiter != null) {
            waiter.attemptsByNanos = now + within;
        }
        lock.attend(out);
        return answer instanceof Queued ? new Queued(Duration.ofNanos(within)) : answer;
    }

    private LockAttempt granted(
            Turn turn, int attempt, @Nullable Waiter waiter, Acquired acquired, long now, List<Effect> out) {
        long granted = StoreDurations.leaseNanos(acquired.lease());
        long expires = turn.sentAt(attempt) + granted;
        long until = Validity.until(turn.sentAt(attempt), granted);
        if (Validity.isOver(until, now)) {
            lock.failed(turn, waiter, out);
            return acquired; // The client detects that too, and handles it.
        }
        if (turn == lock.next) {
            lock.begin(turn, acquired.fencingToken(), until, expires, waiter, now, out);
        } else if (acquired.fencingToken() == turn.storeToken) {
            turn.extend(turn.sentAt(attempt), until, expires);
        } else if (attempt > turn.grantedAtAttempt) {
            turn.grantedAnew(acquired.fencingToken()); // the lock was lost in between
            turn.extend(turn.sentAt(attempt), until, expires);
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

    private static LockAttempt soon() {
        return new Queued(Duration.ofNanos(MILLI));
    }

    /** Handles an attempt without an answer, or with a cancelled caller. */
    void attemptFailed(Turn turn, int attempt, @Nullable Waiter waiter, List<Effect> out) {
        if (turn.attemptInFlight != attempt) {
            return; // it was answered
        }
        turn.attemptInFlight = 0;
        lock.failed(turn, waiter, out);
    }

    /** Handles the answer to {@link Effect.Reserve}. */
    void reserved(Turn turn, LockClaim asked, LockAttempt answer, long now, List<Effect> out) {
        lock.settle(now, out);
        turn.isReserving = false;
        if (turn == lock.holding) {
            if (!(answer instanceof Acquired acquired)) {
                lock.abandon(turn, LossReason.NOT_HELD, out);
            } else if (acquired.fencingToken() == asked.tokenFloor()) {
                // The turn was valid until this answer arrived, so the back end granted no other claim before it
                // acknowledged the block.
                long sent = turn.sentAt(asked.attempt());
                long granted = StoreDurations.leaseNanos(acquired.lease());
                turn.acknowledged(asked.tokenFloor(), now);
                turn.extend(sent, Validity.until(sent, granted), sent + granted);
            } else if (acquired.fencingToken() > asked.tokenFloor() && acquired.fencingToken() != turn.storeToken) {
                lock.abandon(
                        turn, LossReason.NOT_HELD, out); // the hold was broken, and this request took the lock anew
            } else {
                turn.storeToken = acquired.fencingToken(); // not the requested block: nothing is handed over
            }
        } else if (answer instanceof Acquired && isToBeReleased(turn, asked.attempt(), now)) {
            // the lock was lost before, and this attempt has taken it again
            out.add(new Effect.Release(turn, turn.claim()));
        }
        HandOver.resume(turn, out);
    }

    /** Returns whether an attempt may have taken the lock for a turn that is over. */
    private static boolean isToBeReleased(Turn turn, int attempt, long now) {
        return !turn.isReleased || now - turn.sentAt(attempt) >= LATE_NANOS;
    }

    /** Handles a failure of {@link Effect.Reserve}: this turn hands nothing over. */
    void reserveFailed(Turn turn, List<Effect> out) {
        turn.isReserving = false;
        HandOver.resume(turn, out);
    }

    /** Handles the answer to a renewal of the owner. */
    void renewed(Turn turn, @Nullable Waiter waiter, long sentAtNanos, Renewal answer, long now, List<Effect> out) {
        if (answer instanceof Renewal.Held held) {
            long granted = StoreDurations.leaseNanos(held.lease());
            long until = Validity.until(sentAtNanos, granted);
            if (!Validity.isOver(turn.validUntilNanos, now)) {
                turn.extend(sentAtNanos, until, sentAtNanos + granted);
            }
            if (waiter != null && turn.owner == waiter) {
                waiter.validUntilNanos = turn.validUntilNanos;
            }
        } else if (answer instanceof Renewal.NotHeld) {
            if (turn == lock.holding) {
                lock.lose(turn, turn.owner == waiter ? null : LossReason.NOT_HELD, out);
            }
        } else {
            turn.isDoubted = true;
        }
        lock.settle(now, out);
    }

    /** Handles a signal. */
    void signalled(Turn turn, WatchSignal signal, long now, List<Effect> out) {
        lock.settle(now, out);
        if (signal instanceof WatchSignal.Armed) {
            turn.isArmed = true;
        }
        if (turn == lock.holding) {
            signalledToOwner(turn, signal, out);
        } else if (turn == lock.next) {
            signalledToWaiters(turn, signal, now, out);
        }
    }

    private void signalledToOwner(Turn turn, WatchSignal signal, List<Effect> out) {
        if (signal instanceof WatchSignal.Lost lost) {
            lock.lose(turn, lost.reason(), out);
        } else if (!(signal instanceof WatchSignal.Granted)) {
            HandOver.push(turn.owner, new WatchSignal.Changed(), out);
        }
    }

    private void signalledToWaiters(Turn turn, WatchSignal signal, long now, List<Effect> out) {
        if (signal instanceof WatchSignal.Granted granted && turn.knows(granted.attempt())) {
            long sent = turn.sentAt(granted.attempt());
            long lasts = StoreDurations.leaseNanos(granted.lease());
            long until = Validity.until(sent, lasts);
            if (!Validity.isOver(until, now)) {
                lock.begin(turn, granted.fencingToken(), until, sent + lasts, null, now, out);
                return;
            }
        }
        if (turn.attempt > 0 && !turn.isStarting) {
            lock.changed(out);
        }
    }

    /** Handles the end of the signals. */
    void signalsStopped(Turn turn, List<Effect> out) {
        turn.isArmed = false;
        if (turn == lock.next) {
            lock.changed(out);
        } else if (turn == lock.holding) {
            HandOver.push(turn.owner, new WatchSignal.Changed(), out);
        }
    }
}
