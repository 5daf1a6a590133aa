package io.holdfast.internal.state;

import io.holdfast.LockBackendException;
import io.holdfast.LockQueueFullException;
import io.holdfast.internal.state.AcquirePlan.Mode;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.WatchSignal.Granted;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

// Longer than other files: one state machine, whose transitions are read side by side. A third is its fields and their
// copy.

/**
 * One acquisition: its attempts, pauses and end. Immutable; each method takes an event and gives the next state with what to do.
 *
 * <p>One look at a time. A signal during an attempt is remembered, since the attempt may have been processed before the change that is
 * signalled. An answer to any but the attempt in flight comes too late and changes nothing: the claim is either looked for again or
 * released, and both repair whatever it did.
 */
public final class AcquireState {

    /** Where an acquisition stands. */
    public enum Phase {
        /** An attempt is in flight. */
        ATTEMPTING,
        /** Waiting for a signal, or for the time of the next attempt. */
        PAUSING,
        /** The subscriber is gone or was told; an attempt is in flight, and its answer decides what has to be withdrawn. */
        LEAVING,
        /** Nothing more to come. */
        ENDED
    }

    /**
     * The next state, and what to do.
     *
     * @param state the next state
     * @param action what to do
     */
    public record Step(AcquireState state, AcquireAction action) {}

    /** Nothing is believed to refuse for longer without being asked again. */
    private static final Duration LONGEST_RETRY = Duration.ofDays(1);

    private static final AcquireAction NONE = new AcquireAction.None();

    /** An answer that takes longer is no longer a matter of the network alone. */
    private static final long SLOW_NANOS = 50_000_000;

    private final AcquirePlan plan;
    private final Phase phase;
    private final int attempt;
    private final SentAttempts sent;
    private final boolean armed;
    private final boolean signalled;
    private final boolean lossTold;
    private final boolean answered;
    private final int failures;
    private final long failingSinceNanos;
    private final @Nullable LockBackendException lastFailure;
    private final long restUntilNanos;

    private AcquireState(Draft draft) {
        plan = draft.plan;
        phase = draft.phase;
        attempt = draft.attempt;
        sent = draft.sent;
        armed = draft.armed;
        signalled = draft.signalled;
        lossTold = draft.lossTold;
        answered = draft.answered;
        failures = draft.failures;
        failingSinceNanos = draft.failingSinceNanos;
        lastFailure = draft.lastFailure;
        restUntilNanos = draft.restUntilNanos;
    }

    /**
     * Starts with the first attempt.
     *
     * @param plan what is asked
     * @param armed whether watching is in force already
     * @param nowNanos the time
     * @return attempt
     */
    public static Step start(AcquirePlan plan, boolean armed, long nowNanos) {
        AcquireState state = new AcquireState(new Draft(plan, SentAttempts.first(nowNanos), armed, nowNanos));
        return new Step(state, new AcquireAction.Attempt(1));
    }

    /**
     * Where it stands.
     *
     * @return the phase
     */
    public Phase phase() {
        return phase;
    }

    /**
     * How many attempts were sent.
     *
     * @return at least 1
     */
    public int attempt() {
        return attempt;
    }

    /**
     * When the last attempt was sent.
     *
     * @return nanoseconds of the client's clock
     */
    public long sentAtNanos() {
        return sent.sentAt(attempt);
    }

    /**
     * Whether the store has answered the last attempt that ended.
     *
     * @return false when it failed, or when none has ended yet
     */
    public boolean isAnswered() {
        return answered;
    }

    /**
     * The failure of the last attempt that failed.
     *
     * @return null when none did
     */
    public @Nullable LockBackendException lastFailure() {
        return lastFailure;
    }

    /**
     * An attempt was answered.
     *
     * @param number which
     * @param answer the answer
     * @param nowNanos the time
     * @param random in [0, 1)
     * @return what follows
     */
    public Step answered(int number, LockAttempt answer, long nowNanos, double random) {
        if (number != attempt || (phase != Phase.ATTEMPTING && phase != Phase.LEAVING)) {
            return stay();
        }
        if (phase == Phase.LEAVING) {
            boolean nothingLeft = answer instanceof Contended && plan.mode() != Mode.WAIT;
            return end(nothingLeft ? NONE : new AcquireAction.Withdraw());
        }
        Draft answered = draft();
        answered.sent = sent.answered(number);
        answered.answered = true;
        answered.failures = 0;
        if (answer instanceof Acquired acquired) {
            Grant grant = new Grant(
                    acquired.fencingToken(),
                    sent.sentAt(number),
                    StoreDurations.leaseNanos(acquired.lease()),
                    lossTold ? Grant.Standing.DOUBTED : Grant.Standing.CONFIRMED);
            if (!Validity.isOver(grant.validUntilNanos(), nowNanos)) {
                return end(answered, new AcquireAction.Deliver(grant));
            }
            return grantedTooLate(answered, number, nowNanos, random);
        }
        if (plan.mode() == Mode.TRY) {
            return end(new AcquireAction.NotAvailable());
        }
        if (plan.mode() == Mode.ONE_LOOK) {
            return end(answered, new AcquireAction.TimedOut(false));
        }
        long within = nextAttemptWithin(answer);
        // The first attempt may have had to connect. What it says of the store is little, and a release after it may be
        // missed.
        long rest = number == 1 ? 0 : restAfter(number, nowNanos, within);
        long pause = answer instanceof Queued && armed ? within : Math.min(backoff(attempt, random), within);
        return attemptAgain(answered, rest, Math.max(pause, rest), nowNanos);
    }

    /**
     * This thread, or the back end, is slower than the lease. The same claim looks again, but not in a tight loop. The first time it looks
     * again at once: a process that has just started may have taken that long to load its classes. An acquisition that does not wait looks
     * once more at least, and for one lease at the longest.
     */
    private Step grantedTooLate(Draft answered, int number, long nowNanos, double random) {
        answered.failures = failures + 1;
        answered.failingSinceNanos = failures == 0 ? sent.sentAt(number) : failingSinceNanos;
        boolean tooLong = failures > 0 && nowNanos - answered.failingSinceNanos >= plan.leaseNanos();
        if (plan.mode() != Mode.WAIT && tooLong) {
            return end(answered, new AcquireAction.GrantedTooLate());
        }
        long rest = failures == 0 ? 0 : restAfter(number, nowNanos, plan.leaseNanos());
        return attemptAgain(answered, rest, Math.max(backoff(number, random), rest), nowNanos);
    }

    /**
     * An attempt failed, or was not answered in time: whether it was carried out is unknown.
     *
     * @param number which
     * @param error the failure
     * @param nowNanos the time
     * @param random in [0, 1)
     * @return what follows
     */
    public Step attemptFailed(int number, LockBackendException error, long nowNanos, double random) {
        if (number != attempt || (phase != Phase.ATTEMPTING && phase != Phase.LEAVING)) {
            return stay();
        }
        if (phase == Phase.LEAVING) {
            return end(new AcquireAction.Withdraw());
        }
        Draft failed = draft();
        failed.answered = false;
        failed.failures = failures + 1;
        failed.failingSinceNanos = failures == 0 ? sent.sentAt(number) : failingSinceNanos;
        failed.lastFailure = error;
        if (plan.mode() == Mode.ONE_LOOK && error.isTransient()) {
            return end(failed, new AcquireAction.TimedOut(true));
        }
        if (plan.mode() == Mode.WAIT && error.retryAfter().isPresent()) {
            // The store knows why and for how long: that is not the row of failures after which a wait is given up.
            failed.failures = 0;
            return pause(failed, untilRetry(error.retryAfter().get(), random), nowNanos);
        }
        boolean tooLong = !plan.limited() && nowNanos - failed.failingSinceNanos >= plan.leaseNanos();
        if (plan.mode() != Mode.WAIT || !error.isTransient() || tooLong) {
            return end(failed, new AcquireAction.Failed(error));
        }
        // The first failure may be a lost reply, and the lock ours already: only those after it slow the waiter down.
        long rest = failed.failures == 1 ? 0 : restAfter(number, nowNanos, plan.leaseNanos());
        failed.restUntilNanos = nowNanos + rest;
        return pause(failed, Math.max(backoff(failed.failures, random), rest), nowNanos);
    }

    /**
     * The store refused the claim: too many wait.
     *
     * @param number which attempt
     * @param error says which limit was met
     * @return the end; an earlier attempt may have left something, so the claim is withdrawn
     */
    public Step refused(int number, LockQueueFullException error) {
        if (number != attempt || (phase != Phase.ATTEMPTING && phase != Phase.LEAVING)) {
            return stay();
        }
        return end(phase == Phase.LEAVING ? new AcquireAction.Withdraw() : new AcquireAction.Failed(error));
    }

    /**
     * Watching is in force from now on, so what happened since the last attempt was sent may have been missed.
     *
     * @param nowNanos the time
     * @return attempt again, unless it has ended
     */
    public Step armed(long nowNanos) {
        Draft draft = draft();
        draft.armed = true;
        return signal(draft, nowNanos);
    }

    /**
     * Something changed.
     *
     * @param nowNanos the time
     * @return attempt again, unless it has ended
     */
    public Step changed(long nowNanos) {
        return signal(draft(), nowNanos);
    }

    /**
     * The store said that the claim was lost. It may speak of the grant whose answer is still on its way.
     *
     * @param nowNanos the time
     * @return attempt again, unless it has ended; what the attempt in flight brings is in doubt
     */
    public Step lost(long nowNanos) {
        Draft draft = draft();
        draft.lossTold = true;
        return signal(draft, nowNanos);
    }

    /**
     * The signals stopped: from now on the back end is polled.
     *
     * @param nowNanos the time
     * @return attempt again, unless it has ended
     */
    public Step disarmed(long nowNanos) {
        Draft draft = draft();
        draft.armed = false;
        return signal(draft, nowNanos);
    }

    /**
     * The store pushed a grant.
     *
     * @param granted the grant, which names the attempt it answers
     * @param nowNanos the time
     * @return deliver, or look again when it is over already names an attempt whose send time is not known any more,
     *     or when a whole lease is wanted
     */
    public Step granted(Granted granted, long nowNanos) {
        if (phase != Phase.ATTEMPTING && phase != Phase.PAUSING) {
            return stay();
        }
        if (plan.wholeLease() || !sent.knows(granted.attempt())) {
            return signal(draft(), nowNanos);
        }
        Grant grant = new Grant(
                granted.fencingToken(),
                sent.sentAt(granted.attempt()),
                StoreDurations.leaseNanos(granted.lease()),
                lossTold ? Grant.Standing.DOUBTED : Grant.Standing.PUSHED);
        return Validity.isOver(grant.validUntilNanos(), nowNanos)
                ? signal(draft(), nowNanos)
                : end(draft(), new AcquireAction.Deliver(grant));
    }

    /**
     * The pause may be over.
     *
     * @param nowNanos the time
     * @return attempt, if it is pausing
     */
    public Step pauseOver(long nowNanos) {
        return phase == Phase.PAUSING ? attempt(draft(), nowNanos) : stay();
    }

    /**
     * The wait is over.
     *
     * @return time-out, unless it has ended
     */
    public Step timedOut() {
        return leave(new AcquireAction.TimedOut(false), new AcquireAction.TimedOut(true));
    }

    /**
     * The client was closed.
     *
     * @return closed, unless it has ended
     */
    public Step closed() {
        return leave(new AcquireAction.Closed(false), new AcquireAction.Closed(true));
    }

    /**
     * The subscriber left.
     *
     * @return withdraw, now or when the attempt in flight is answered
     */
    public Step left() {
        return leave(NONE, new AcquireAction.Withdraw());
    }

    /**
     * Something unexpected was met: whatever else comes is too late.
     *
     * @return ended
     */
    public AcquireState broken() {
        return end(NONE).state();
    }

    private Step leave(AcquireAction whileAttempting, AcquireAction whilePausing) {
        return switch (phase) {
            case ATTEMPTING -> {
                Draft draft = draft();
                draft.phase = Phase.LEAVING;
                yield new Step(new AcquireState(draft), whileAttempting);
            }
            case PAUSING -> end(whilePausing);
            case LEAVING, ENDED -> stay();
        };
    }

    private Step signal(Draft draft, long nowNanos) {
        if (phase != Phase.PAUSING) {
            draft.signalled = true;
            return new Step(new AcquireState(draft), NONE);
        }
        return Validity.isOver(restUntilNanos, nowNanos)
                ? attempt(draft, nowNanos)
                : pause(draft, restUntilNanos - nowNanos, nowNanos);
    }

    private Step attempt(Draft draft, long nowNanos) {
        draft.phase = Phase.ATTEMPTING;
        draft.attempt = attempt + 1;
        draft.sent = draft.sent.plus(nowNanos);
        draft.signalled = false;
        draft.lossTold = false;
        return new Step(new AcquireState(draft), new AcquireAction.Attempt(attempt + 1));
    }

    private Step attemptAgain(Draft answered, long rest, long pause, long nowNanos) {
        answered.restUntilNanos = nowNanos + rest;
        if (!signalled) {
            return pause(answered, pause, nowNanos);
        }
        return rest == 0 ? attempt(answered, nowNanos) : pause(answered, rest, nowNanos);
    }

    private Step pause(Draft draft, long pauseNanos, long nowNanos) {
        draft.phase = Phase.PAUSING;
        return new Step(new AcquireState(draft), new AcquireAction.Pause(nowNanos + pauseNanos));
    }

    /**
     * How long to rest, so that a store which is slow is asked for half of the time at the most by each waiter: an answer that took long is
     * the sign of a store, or of a client, with more work than it can do, and signals would bring more of it.
     */
    private long restAfter(int number, long nowNanos, long mostNanos) {
        long took = nowNanos - sent.sentAt(number);
        return took < SLOW_NANOS ? 0 : Math.min(took, mostNanos);
    }

    private long backoff(int number, double random) {
        return Math.max(
                StoreDurations.LEAST_PAUSE_NANOS,
                plan.backoff().pause(number, random).toNanos());
    }

    /**
     * In a queue whose signals arrive there is nothing to gain by asking: only the store's own limit counts. Without a place, or
     * without signals, the back-off does.
     */
    private static long nextAttemptWithin(LockAttempt answer) {
        return StoreDurations.pauseNanos(
                answer instanceof Queued queued
                        ? queued.nextAttemptWithin()
                        : ((Contended) answer).nextAttemptWithin());
    }

    /** A little later than the store said, and not all waiters at one moment. */
    private long untilRetry(Duration retryAfter, double random) {
        Duration bounded = retryAfter.compareTo(LONGEST_RETRY) < 0 ? retryAfter : LONGEST_RETRY;
        return Math.max(0, bounded.toNanos()) + backoff(1, random);
    }

    private Step stay() {
        return new Step(this, NONE);
    }

    private Step end(AcquireAction action) {
        return end(draft(), action);
    }

    private static Step end(Draft draft, AcquireAction action) {
        draft.phase = Phase.ENDED;
        return new Step(new AcquireState(draft), action);
    }

    private Draft draft() {
        return new Draft(this);
    }

    /** The next state in the making; never leaves a method of this class. */
    private static final class Draft {

        final AcquirePlan plan;
        Phase phase = Phase.ATTEMPTING;
        int attempt = 1;
        SentAttempts sent;
        boolean armed;
        boolean signalled;
        boolean lossTold;
        boolean answered;
        int failures;
        long failingSinceNanos;

        @Nullable
        LockBackendException lastFailure;

        /** No attempt before then, whatever is signalled: in proportion to how long the store took for the last one. */
        long restUntilNanos;

        /** The clock may be below zero, so nothing is over by itself. */
        Draft(AcquirePlan plan, SentAttempts sent, boolean armed, long nowNanos) {
            this.plan = plan;
            this.sent = sent;
            this.armed = armed;
            restUntilNanos = nowNanos;
        }

        Draft(AcquireState from) {
            plan = from.plan;
            phase = from.phase;
            attempt = from.attempt;
            sent = from.sent;
            armed = from.armed;
            signalled = from.signalled;
            lossTold = from.lossTold;
            answered = from.answered;
            failures = from.failures;
            failingSinceNanos = from.failingSinceNanos;
            lastFailure = from.lastFailure;
            restUntilNanos = from.restUntilNanos;
        }
    }
}
