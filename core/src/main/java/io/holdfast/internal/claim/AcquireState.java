package io.holdfast.internal.claim;

import io.holdfast.Backoff;
import io.holdfast.LockBackendException;
import io.holdfast.LockException;
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
 * One acquisition: its attempts, pauses and end. Does not change; each method takes an event and returns the next state with
 * the action.
 *
 * <p>One attempt is in flight at a time. A signal during an attempt is remembered, since the server may have processed
 * the attempt before the change that it signals. Only the answer to the attempt in flight counts. Any other answer is
 * too late and changes nothing: the claim either sends another attempt or is released, and both repair the effect of
 * the late one.
 */
final class AcquireState implements ClaimState {

    /** The phase of an acquisition. */
    enum Phase {
        /** Nothing was sent so far. */
        READY,
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

    /** The next state and the action. */
    record Step(AcquireState state, AcquireAction action) {}

    /** The longest time for which a refusal counts without another attempt. */
    private static final Duration LONGEST_RETRY = Duration.ofDays(1);

    private static final AcquireAction NONE = new AcquireAction.None();

    /** An answer that takes longer is slow because of the server or the client, not of the network alone. */
    private static final long SLOW_NANOS = 50_000_000;

    /** In place of the plan of a claim that has not begun; no method uses it. */
    private static final AcquirePlan NO_PLAN =
            new AcquirePlan(Mode.TRY, false, 0, false, Backoff.fixed(Duration.ofSeconds(1)));

    private static final AcquireState NEW = new AcquireState(NO_PLAN, false, 0, 0);
    private static final AcquireState ADOPTED = new AcquireState(NO_PLAN, true, 0, 0);

    private final AcquirePlan plan;
    private final boolean adopted;
    private final long giveUpAtNanos;

    // Written only while a method of this class makes the state.
    private Phase phase = Phase.READY;
    private int attempt;
    private SentAttempts sent = SentAttempts.NONE;
    private boolean armed;
    private boolean signalled;
    private boolean lossSignalled;
    private boolean answered;
    private int failures;
    private long failingSinceNanos;
    private @Nullable LockBackendException lastFailure;
    private long pauseUntilNanos;

    /**
     * Before this time no signal causes an attempt; the rest is in proportion to how long the server took for the last
     * attempt.
     */
    private long restUntilNanos;

    private AcquireState(AcquirePlan plan, boolean adopted, long giveUpAtNanos, long nowNanos) {
        this.plan = plan;
        this.adopted = adopted;
        this.giveUpAtNanos = giveUpAtNanos;
        restUntilNanos = nowNanos; // not zero, which would not always be in the past: the clock may be below zero
    }

    private AcquireState(AcquireState from) {
        plan = from.plan;
        adopted = from.adopted;
        giveUpAtNanos = from.giveUpAtNanos;
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
        pauseUntilNanos = from.pauseUntilNanos;
        restUntilNanos = from.restUntilNanos;
    }

    /** Returns the state of a claim that has sent nothing. An adopted claim holds the lock already. */
    static AcquireState ready(boolean adopted) {
        return adopted ? ADOPTED : NEW;
    }

    /**
     * Sends the first attempt.
     *
     * @param giveUpAt the end of the wait, if the plan is limited
     */
    Step begin(AcquirePlan wanted, boolean isArmed, long giveUpAt, long nowNanos) {
        if (phase != Phase.READY) {
            return stay();
        }
        AcquireState after = new AcquireState(wanted, adopted, giveUpAt, nowNanos);
        after.armed = isArmed || armed;
        return after.attempt(after, nowNanos);
    }

    Phase phase() {
        return phase;
    }

    int attempt() {
        return attempt;
    }

    /** Returns whether the back end answered the last finished attempt. */
    boolean isAnswered() {
        return answered;
    }

    /** Returns the failure of the last failed attempt. */
    @Nullable
    LockBackendException lastFailure() {
        return lastFailure;
    }

    /** Handles an answer to an attempt. */
    Step answered(int number, LockAttempt answer, long nowNanos, double random) {
        if (number != attempt || (phase != Phase.ATTEMPTING && phase != Phase.LEAVING)) {
            return stay();
        }
        if (phase == Phase.LEAVING) {
            boolean nothingLeft = answer instanceof Contended && plan.mode() != Mode.WAIT;
            return end(nothingLeft ? NONE : new AcquireAction.Withdraw());
        }
        AcquireState after = copy();
        after.sent = sent.answered(number);
        after.answered = true;
        after.failures = 0;
        if (answer instanceof Acquired acquired) {
            Grant grant = new Grant(
                    acquired.fencingToken(),
                    sent.sentAt(number),
                    StoreDurations.leaseNanos(acquired.lease()),
                    lossSignalled ? Grant.Standing.DOUBTED : Grant.Standing.CONFIRMED);
            if (!Validity.isOver(grant.validUntilNanos(), nowNanos)) {
                return end(after, new AcquireAction.Deliver(grant));
            }
            return grantedTooLate(after, number, nowNanos, random);
        }
        if (plan.mode() == Mode.TRY) {
            return end(new AcquireAction.NotAvailable());
        }
        if (plan.mode() == Mode.ONE_ATTEMPT) {
            return end(after, new AcquireAction.TimedOut(false));
        }
        long within = nextAttemptWithin(answer);
        // The first attempt may have had to open a connection. Its duration says little about the server, and its pause
        // might miss a release.
        long rest = number == 1 ? 0 : restAfter(number, nowNanos, within);
        long pause = answer instanceof Queued && armed ? within : Math.min(backoff(attempt, random), within);
        return attemptAgain(after, rest, Math.max(pause, rest), nowNanos);
    }

    /**
     * Handles a grant that had ended when it arrived: this thread, or the back end, is slower than the lease. The same
     * claim sends another attempt, but not in a tight loop. After the first late grant it does so at once: a process
     * that has just started may have loaded its classes meanwhile. An acquisition that does not wait sends at least one
     * more attempt, and goes on for one lease duration at most.
     */
    private Step grantedTooLate(AcquireState after, int number, long nowNanos, double random) {
        after.failures = failures + 1;
        after.failingSinceNanos = failures == 0 ? sent.sentAt(number) : failingSinceNanos;
        boolean tooLong = failures > 0 && nowNanos - after.failingSinceNanos >= plan.leaseNanos();
        if (plan.mode() != Mode.WAIT && tooLong) {
            return end(after, new AcquireAction.GrantedTooLate());
        }
        long rest = failures == 0 ? 0 : restAfter(number, nowNanos, plan.leaseNanos());
        return attemptAgain(after, rest, Math.max(backoff(number, random), rest), nowNanos);
    }

    /** Handles an attempt that failed or timed out: its outcome is unknown. */
    Step attemptFailed(int number, LockBackendException error, long nowNanos, double random) {
        if (number != attempt || (phase != Phase.ATTEMPTING && phase != Phase.LEAVING)) {
            return stay();
        }
        if (phase == Phase.LEAVING) {
            return end(new AcquireAction.Withdraw());
        }
        AcquireState after = copy();
        after.answered = false;
        after.failures = failures + 1;
        after.failingSinceNanos = failures == 0 ? sent.sentAt(number) : failingSinceNanos;
        after.lastFailure = error;
        if (plan.mode() == Mode.ONE_ATTEMPT && error.isTransient()) {
            return end(after, new AcquireAction.TimedOut(true));
        }
        if (plan.mode() == Mode.WAIT && error.retryAfter().isPresent()) {
            // The back end gives the reason and the time, so this failure does not count towards the series after which
            // the wait is given up.
            after.failures = 0;
            return pause(after, untilRetry(error.retryAfter().get(), random), nowNanos);
        }
        boolean tooLong = !plan.limited() && nowNanos - after.failingSinceNanos >= plan.leaseNanos();
        if (plan.mode() != Mode.WAIT || !error.isTransient() || tooLong) {
            return end(after, new AcquireAction.Failed(error));
        }
        // The first failure may be a lost answer, and this claim may hold the lock already: only later failures slow
        // the waiter down.
        long rest = after.failures == 1 ? 0 : restAfter(number, nowNanos, plan.leaseNanos());
        after.restUntilNanos = nowNanos + rest;
        return pause(after, Math.max(backoff(after.failures, random), rest), nowNanos);
    }

    /** Handles a refusal: too many claims wait. */
    Step refused(int number, LockQueueFullException error) {
        if (number != attempt || (phase != Phase.ATTEMPTING && phase != Phase.LEAVING)) {
            return stay();
        }
        return end(phase == Phase.LEAVING ? new AcquireAction.Withdraw() : new AcquireAction.Failed(error));
    }

    /** Handles a refusal by this client, before the first attempt. */
    Step refusedHere(LockException error) {
        return phase == Phase.READY ? end(new AcquireAction.Refused(error)) : stay();
    }

    /** Handles the start of the watch: the acquisition may have missed signals since it sent the last attempt. */
    Step armed(long nowNanos) {
        AcquireState after = copy();
        after.armed = true;
        return signal(after, nowNanos);
    }

    /** Handles a signal of a change. */
    Step changed(long nowNanos) {
        return signal(copy(), nowNanos);
    }

    /** Handles a signal that the claim was lost. It may concern the grant whose answer is still on its way. */
    Step lost(long nowNanos) {
        AcquireState after = copy();
        after.lossSignalled = true;
        return signal(after, nowNanos);
    }

    /** Handles the end of the signals: from now on the acquisition polls the back end. */
    Step disarmed(long nowNanos) {
        AcquireState after = copy();
        after.armed = false;
        return signal(after, nowNanos);
    }

    /** Handles a pushed grant. */
    Step granted(Granted granted, boolean isSent, long nowNanos) {
        if (phase != Phase.ATTEMPTING && phase != Phase.PAUSING) {
            return stay();
        }
        if ((phase == Phase.ATTEMPTING && !isSent) || plan.wholeLease() || !sent.knows(granted.attempt())) {
            return signal(copy(), nowNanos);
        }
        Grant grant = new Grant(
                granted.fencingToken(),
                sent.sentAt(granted.attempt()),
                StoreDurations.leaseNanos(granted.lease()),
                lossSignalled ? Grant.Standing.DOUBTED : Grant.Standing.PUSHED);
        return Validity.isOver(grant.validUntilNanos(), nowNanos)
                ? signal(copy(), nowNanos)
                : end(copy(), new AcquireAction.Deliver(grant));
    }

    @Override
    public boolean wantsWake() {
        return phase == Phase.PAUSING || (isLimited() && phase == Phase.ATTEMPTING);
    }

    @Override
    public long wakeAtNanos() {
        if (phase != Phase.PAUSING) {
            return giveUpAtNanos;
        }
        return isLimited() ? Validity.earlier(pauseUntilNanos, giveUpAtNanos) : pauseUntilNanos;
    }

    /** Handles the passing of time. */
    Step tick(long nowNanos) {
        boolean waits = phase == Phase.PAUSING || phase == Phase.ATTEMPTING;
        if (waits && isLimited() && Validity.isOver(giveUpAtNanos, nowNanos)) {
            return timedOut();
        }
        return phase == Phase.PAUSING && Validity.isOver(pauseUntilNanos, nowNanos) ? pauseOver(nowNanos) : stay();
    }

    private boolean isLimited() {
        return plan.limited() && plan.mode() == Mode.WAIT;
    }

    /** Handles the timer at the end of a pause. */
    Step pauseOver(long nowNanos) {
        return phase == Phase.PAUSING ? attempt(copy(), nowNanos) : stay();
    }

    /** Handles the end of the wait timeout. */
    Step timedOut() {
        return leave(new AcquireAction.TimedOut(false), new AcquireAction.TimedOut(true));
    }

    /** Handles the close of the client. */
    Step closed() {
        return leave(new AcquireAction.Closed(false), new AcquireAction.Closed(true));
    }

    /** Handles a cancellation by the subscriber. */
    Step left() {
        return leave(NONE, new AcquireAction.Withdraw());
    }

    /** Ends the acquisition after an unexpected error: every later event is too late. */
    AcquireState broken() {
        return end(NONE).state();
    }

    private Step leave(AcquireAction whileAttempting, AcquireAction whilePausing) {
        return switch (phase) {
            case ATTEMPTING -> {
                AcquireState after = copy();
                after.phase = Phase.LEAVING;
                yield new Step(after, whileAttempting);
            }
            case READY -> end(adopted ? whilePausing : whileAttempting);
            case PAUSING -> end(whilePausing);
            case LEAVING, ENDED -> stay();
        };
    }

    private Step signal(AcquireState after, long nowNanos) {
        if (phase == Phase.ENDED) {
            return stay();
        }
        if (phase != Phase.PAUSING) {
            after.signalled = true;
            return new Step(after, NONE);
        }
        return Validity.isOver(restUntilNanos, nowNanos)
                ? attempt(after, nowNanos)
                : pause(after, restUntilNanos - nowNanos, nowNanos);
    }

    private Step attempt(AcquireState after, long nowNanos) {
        after.phase = Phase.ATTEMPTING;
        after.attempt++;
        after.sent = after.sent.plus(nowNanos);
        after.signalled = false;
        after.lossSignalled = false;
        return new Step(after, new AcquireAction.Attempt(after.attempt));
    }

    private Step attemptAgain(AcquireState after, long rest, long pause, long nowNanos) {
        after.restUntilNanos = nowNanos + rest;
        if (!signalled) {
            return pause(after, pause, nowNanos);
        }
        return rest == 0 ? attempt(after, nowNanos) : pause(after, rest, nowNanos);
    }

    private Step pause(AcquireState after, long pauseNanos, long nowNanos) {
        after.phase = Phase.PAUSING;
        after.pauseUntilNanos = nowNanos + pauseNanos;
        return new Step(after, new AcquireAction.Pause(after.pauseUntilNanos));
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
        return end(copy(), action);
    }

    private static Step end(AcquireState after, AcquireAction action) {
        after.phase = Phase.ENDED;
        return new Step(after, action);
    }

    private AcquireState copy() {
        return new AcquireState(this);
    }
}
