package io.holdfast.internal.claim;

import io.holdfast.LockBackendException;
import io.holdfast.LockQueueFullException;
import io.holdfast.internal.engine.AcquirePlan;
import io.holdfast.internal.engine.AcquirePlan.Mode;
import io.holdfast.internal.run.StoreDurations;
import io.holdfast.internal.run.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.WatchSignal.Granted;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

// Longer than other files: one state machine, so that a reader sees all transitions side by side. A third of it is the
// fields and their copy.

/**
 * One acquisition: its attempts, pauses and end. Immutable; each method takes an event and returns the next state with
 * the action.
 *
 * <p>One attempt is in flight at a time. A signal during an attempt is remembered, since the server may have processed
 * the attempt before the change that it signals. Only the answer to the attempt in flight counts. Any other answer is
 * too late and changes nothing: the claim either sends another attempt or is released, and both repair the effect of
 * the late one.
 */
public final class AcquireState {

    /** The phase of an acquisition. */
    public enum Phase {
        /** An attempt is in flight. */
        ATTEMPTING,
        /** Waiting for a signal, or for the time of the next attempt. */
        PAUSING,
        /**
         * The subscriber has cancelled, or has its result. An attempt is in flight, and its answer decides whether to
         * withdraw the claim.
         */
        LEAVING,
        /** The acquisition has ended. */
        ENDED
    }

    /**
     * The next state and the action.
     *
     * @param state the next state
     * @param action the action
     */
    public record Step(AcquireState state, AcquireAction action) {}

    /** The longest time for which a refusal counts without another attempt. */
    private static final Duration LONGEST_RETRY = Duration.ofDays(1);

    private static final AcquireAction NONE = new AcquireAction.None();

    /** An answer that takes longer is slow because of the server or the client, not of the network alone. */
    private static final long SLOW_NANOS = 50_000_000;

    private final AcquirePlan plan;
    private final Phase phase;
    private final int attempt;
    private final SentAttempts sent;
    private final boolean armed;
    private final boolean signalled;
    private final boolean lossSignalled;
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
        lossSignalled = draft.lossSignalled;
        answered = draft.answered;
        failures = draft.failures;
        failingSinceNanos = draft.failingSinceNanos;
        lastFailure = draft.lastFailure;
        restUntilNanos = draft.restUntilNanos;
    }

    /**
     * Starts with the first attempt.
     *
     * @param plan the settings
     * @param armed whether the watch is active already
     * @param nowNanos the current time
     * @return the first attempt
     */
    public static Step start(AcquirePlan plan, boolean armed, long nowNanos) {
        AcquireState state = new AcquireState(new Draft(plan, SentAttempts.first(nowNanos), armed, nowNanos));
        return new Step(state, new AcquireAction.Attempt(1));
    }

    /**
     * Returns the phase.
     *
     * @return the phase
     */
    public Phase phase() {
        return phase;
    }

    /**
     * Returns how many attempts were sent.
     *
     * @return at least 1
     */
    public int attempt() {
        return attempt;
    }

    /**
     * Returns when the last attempt was sent.
     *
     * @return nanoseconds of the client's clock
     */
    public long sentAtNanos() {
        return sent.sentAt(attempt);
    }

    /**
     * Returns whether the back end answered the last finished attempt.
     *
     * @return false when it failed, or when none has finished yet
     */
    public boolean isAnswered() {
        return answered;
    }

    /**
     * Returns the failure of the last failed attempt.
     *
     * @return null when none failed
     */
    public @Nullable LockBackendException lastFailure() {
        return lastFailure;
    }

    /**
     * Handles an answer to an attempt.
     *
     * @param number the number of the attempt
     * @param answer the answer
     * @param nowNanos the current time
     * @param random a number in [0, 1)
     * @return the next step
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
                    lossSignalled ? Grant.Standing.DOUBTED : Grant.Standing.CONFIRMED);
            if (!Validity.isOver(grant.validUntilNanos(), nowNanos)) {
                return end(answered, new AcquireAction.Deliver(grant));
            }
            return grantedTooLate(answered, number, nowNanos, random);
        }
        if (plan.mode() == Mode.TRY) {
            return end(new AcquireAction.NotAvailable());
        }
        if (plan.mode() == Mode.ONE_ATTEMPT) {
            return end(answered, new AcquireAction.TimedOut(false));
        }
        long within = nextAttemptWithin(answer);
        // The first attempt may have had to open a connection. Its duration says little about the server, and its pause
        // might miss a release.
        long rest = number == 1 ? 0 : restAfter(number, nowNanos, within);
        long pause = answer instanceof Queued && armed ? within : Math.min(backoff(attempt, random), within);
        return attemptAgain(answered, rest, Math.max(pause, rest), nowNanos);
    }

    /**
     * Handles a grant that had ended when it arrived: this thread, or the back end, is slower than the lease. The same
     * claim sends another attempt, but not in a tight loop. After the first late grant it does so at once: a process
     * that has just started may have loaded its classes meanwhile. An acquisition that does not wait sends at least one
     * more attempt, and goes on for one lease duration at most.
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
     * Handles an attempt that failed or timed out: its outcome is unknown.
     *
     * @param number the number of the attempt
     * @param error the failure
     * @param nowNanos the current time
     * @param random a number in [0, 1)
     * @return the next step
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
        if (plan.mode() == Mode.ONE_ATTEMPT && error.isTransient()) {
            return end(failed, new AcquireAction.TimedOut(true));
        }
        if (plan.mode() == Mode.WAIT && error.retryAfter().isPresent()) {
            // The back end gives the reason and the time, so this failure does not count towards the series after which
            // the wait is given up.
            failed.failures = 0;
            return pause(failed, untilRetry(error.retryAfter().get(), random), nowNanos);
        }
        boolean tooLong = !plan.limited() && nowNanos - failed.failingSinceNanos >= plan.leaseNanos();
        if (plan.mode() != Mode.WAIT || !error.isTransient() || tooLong) {
            return end(failed, new AcquireAction.Failed(error));
        }
        // The first failure may be a lost answer, and this claim may hold the lock already: only later failures slow
        // the waiter down.
        long rest = failed.failures == 1 ? 0 : restAfter(number, nowNanos, plan.leaseNanos());
        failed.restUntilNanos = nowNanos + rest;
        return pause(failed, Math.max(backoff(failed.failures, random), rest), nowNanos);
    }

    /**
     * Handles a refusal: too many claims wait.
     *
     * @param number the number of the attempt
     * @param error says which limit was reached
     * @return the end; an earlier attempt may have left something, so the claim is withdrawn
     */
    public Step refused(int number, LockQueueFullException error) {
        if (number != attempt || (phase != Phase.ATTEMPTING && phase != Phase.LEAVING)) {
            return stay();
        }
        return end(phase == Phase.LEAVING ? new AcquireAction.Withdraw() : new AcquireAction.Failed(error));
    }

    /**
     * Handles the start of the watch: the acquisition may have missed signals since it sent the last attempt.
     *
     * @param nowNanos the current time
     * @return another attempt, unless the acquisition has ended
     */
    public Step armed(long nowNanos) {
        Draft draft = draft();
        draft.armed = true;
        return signal(draft, nowNanos);
    }

    /**
     * Handles a signal of a change.
     *
     * @param nowNanos the current time
     * @return another attempt, unless the acquisition has ended
     */
    public Step changed(long nowNanos) {
        return signal(draft(), nowNanos);
    }

    /**
     * Handles a signal that the claim was lost. It may concern the grant whose answer is still on its way.
     *
     * @param nowNanos the current time
     * @return another attempt, unless the acquisition has ended; a grant of the attempt in flight is in doubt
     */
    public Step lost(long nowNanos) {
        Draft draft = draft();
        draft.lossSignalled = true;
        return signal(draft, nowNanos);
    }

    /**
     * Handles the end of the signals: from now on the acquisition polls the back end.
     *
     * @param nowNanos the current time
     * @return another attempt, unless the acquisition has ended
     */
    public Step disarmed(long nowNanos) {
        Draft draft = draft();
        draft.armed = false;
        return signal(draft, nowNanos);
    }

    /**
     * Handles a pushed grant.
     *
     * @param granted the grant, which names the attempt that it answers
     * @param nowNanos the current time
     * @return the delivery; or another attempt when the grant has ended already, when it names an attempt whose send
     *     time is not known any more, or when the plan needs a whole lease
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
                lossSignalled ? Grant.Standing.DOUBTED : Grant.Standing.PUSHED);
        return Validity.isOver(grant.validUntilNanos(), nowNanos)
                ? signal(draft(), nowNanos)
                : end(draft(), new AcquireAction.Deliver(grant));
    }

    /**
     * Handles the timer at the end of a pause.
     *
     * @param nowNanos the current time
     * @return an attempt, if the phase is still PAUSING
     */
    public Step pauseOver(long nowNanos) {
        return phase == Phase.PAUSING ? attempt(draft(), nowNanos) : stay();
    }

    /**
     * Handles the end of the wait timeout.
     *
     * @return the timeout, unless the acquisition has ended
     */
    public Step timedOut() {
        return leave(new AcquireAction.TimedOut(false), new AcquireAction.TimedOut(true));
    }

    /**
     * Handles the close of the client.
     *
     * @return the failure, unless the acquisition has ended
     */
    public Step closed() {
        return leave(new AcquireAction.Closed(false), new AcquireAction.Closed(true));
    }

    /**
     * Handles a cancellation by the subscriber.
     *
     * @return the withdrawal, now or when the attempt in flight is answered
     */
    public Step left() {
        return leave(NONE, new AcquireAction.Withdraw());
    }

    /**
     * Ends the acquisition after an unexpected error: every later event is too late.
     *
     * @return the ended state
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
        draft.lossSignalled = false;
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
     * Returns how long to rest, so that each waiter keeps a slow server busy for half of the time at most. A slow
     * answer shows that the server or the client is overloaded, and each signal would add load.
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
     * In a queue whose signals arrive, more attempts gain nothing: only the back end's own limit counts. Without a
     * place, or without signals, the back-off limits the pause.
     */
    private static long nextAttemptWithin(LockAttempt answer) {
        return StoreDurations.pauseNanos(
                answer instanceof Queued queued
                        ? queued.nextAttemptWithin()
                        : ((Contended) answer).nextAttemptWithin());
    }

    /** Returns a time a little later than the back end gave, at random, so that not all waiters send at one moment. */
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

    /** A mutable copy for the next state; it never leaves a method of this class. */
    private static final class Draft {

        final AcquirePlan plan;
        Phase phase = Phase.ATTEMPTING;
        int attempt = 1;
        SentAttempts sent;
        boolean armed;
        boolean signalled;
        boolean lossSignalled;
        boolean answered;
        int failures;
        long failingSinceNanos;

        @Nullable
        LockBackendException lastFailure;

        /**
         * Before this time no signal causes an attempt; the rest is in proportion to how long the server took for the
         * last attempt.
         */
        long restUntilNanos;

        /** The clock may be below zero, so a zero would not always be in the past. */
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
            lossSignalled = from.lossSignalled;
            answered = from.answered;
            failures = from.failures;
            failingSinceNanos = from.failingSinceNanos;
            lastFailure = from.lastFailure;
            restUntilNanos = from.restUntilNanos;
        }
    }
}
