package io.holdfast.internal.state;

import io.holdfast.LockBackendException;
import io.holdfast.internal.state.AcquirePlan.Mode;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.WatchSignal.Granted;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition: its looks, pauses and end. Immutable; each method takes an event and gives the next state with what to do.
 *
 * <p>One look at a time. A signal during a look is remembered, since the look may have been processed before the change that is
 * signalled. An answer to any but the look in flight comes too late and changes nothing: the claim is either looked for again or
 * released, and both repair whatever it did.
 */
public final class AcquireState {

    /** Where an acquisition stands. */
    public enum Phase {
        /** A look is in flight. */
        LOOKING,
        /** Waiting for a signal, or for the time of the next look. */
        PAUSING,
        /** The subscriber is gone or was told; a look is in flight, and its answer decides what has to be withdrawn. */
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

    private static final AcquireAction NONE = new AcquireAction.None();

    private final AcquirePlan plan;
    private final Phase phase;
    private final int attempt;
    private final SentLooks sent;
    private final boolean armed;
    private final boolean signalled;
    private final boolean lossTold;
    private final boolean answered;
    private final int failures;
    private final long failingSinceNanos;
    private final @Nullable LockBackendException lastFailure;

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
    }

    /**
     * Starts with the first look.
     *
     * @param plan what is asked
     * @param armed whether watching is in force already
     * @param nowNanos the time
     * @return look
     */
    public static Step start(AcquirePlan plan, boolean armed, long nowNanos) {
        AcquireState state = new AcquireState(new Draft(plan, SentLooks.first(nowNanos), armed));
        return new Step(state, new AcquireAction.Look(1));
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
     * How many looks were sent.
     *
     * @return at least 1
     */
    public int attempt() {
        return attempt;
    }

    /**
     * Whether the store has answered the last look that ended.
     *
     * @return false when it failed, or when none has ended yet
     */
    public boolean isAnswered() {
        return answered;
    }

    /**
     * The failure of the last look that failed.
     *
     * @return null when none did
     */
    public @Nullable LockBackendException lastFailure() {
        return lastFailure;
    }

    /**
     * A look was answered.
     *
     * @param number which
     * @param answer the answer
     * @param nowNanos the time
     * @param random in [0, 1)
     * @return what follows
     */
    public Step looked(int number, LockAttempt answer, long nowNanos, double random) {
        if (number != attempt || (phase != Phase.LOOKING && phase != Phase.LEAVING)) {
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
                    acquired.lease().toNanos(),
                    lossTold ? Grant.Standing.DOUBTED : Grant.Standing.CONFIRMED);
            if (!Validity.isOver(grant.validUntilNanos(), nowNanos)) {
                return end(answered, new AcquireAction.Deliver(grant));
            }
            // This thread, or the back end, is slower than the lease. The same claim looks again; not in a tight loop.
            return plan.mode() == Mode.WAIT
                    ? lookAgain(answered, plan.backoff().pause(number, random), nowNanos)
                    : look(answered, nowNanos);
        }
        if (plan.mode() == Mode.TRY) {
            return end(new AcquireAction.NotAvailable());
        }
        if (plan.mode() == Mode.ONE_LOOK) {
            return end(answered, new AcquireAction.TimedOut(false));
        }
        return lookAgain(answered, pauseAfter(answer, random), nowNanos);
    }

    /**
     * A look failed, or was not answered in time: whether it was carried out is unknown.
     *
     * @param number which
     * @param error the failure
     * @param nowNanos the time
     * @param random in [0, 1)
     * @return what follows
     */
    public Step lookFailed(int number, LockBackendException error, long nowNanos, double random) {
        if (number != attempt || (phase != Phase.LOOKING && phase != Phase.LEAVING)) {
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
        boolean tooLong = !plan.limited() && nowNanos - failed.failingSinceNanos >= plan.leaseNanos();
        if (plan.mode() != Mode.WAIT || !error.isTransient() || tooLong) {
            return end(failed, new AcquireAction.BackendFailed(error));
        }
        return pause(failed, plan.backoff().pause(failed.failures, random), nowNanos);
    }

    /**
     * Watching is in force from now on, so what happened since the last look was sent may have been missed.
     *
     * @param nowNanos the time
     * @return look again, unless it has ended
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
     * @return look again, unless it has ended
     */
    public Step changed(long nowNanos) {
        return signal(draft(), nowNanos);
    }

    /**
     * The store said that the claim was lost. It may speak of the grant whose answer is still on its way.
     *
     * @param nowNanos the time
     * @return look again, unless it has ended; what the look in flight brings is in doubt
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
     * @return look again, unless it has ended
     */
    public Step disarmed(long nowNanos) {
        Draft draft = draft();
        draft.armed = false;
        return signal(draft, nowNanos);
    }

    /**
     * The store pushed a grant.
     *
     * @param granted the grant, which names the look it answers
     * @param nowNanos the time
     * @return deliver, or look again when it is over already or names a look whose send time is not known any more
     */
    public Step granted(Granted granted, long nowNanos) {
        if (phase != Phase.LOOKING && phase != Phase.PAUSING) {
            return stay();
        }
        if (!sent.knows(granted.attempt())) {
            return signal(draft(), nowNanos);
        }
        Grant grant = new Grant(
                granted.fencingToken(),
                sent.sentAt(granted.attempt()),
                granted.lease().toNanos(),
                lossTold ? Grant.Standing.DOUBTED : Grant.Standing.PUSHED);
        if (phase == Phase.LOOKING && Validity.isOver(grant.validUntilNanos(), nowNanos)) {
            return signal(draft(), nowNanos);
        }
        return Validity.isOver(grant.validUntilNanos(), nowNanos)
                ? look(draft(), nowNanos)
                : end(draft(), new AcquireAction.Deliver(grant));
    }

    /**
     * The pause may be over.
     *
     * @param nowNanos the time
     * @return look, if it is pausing
     */
    public Step pauseOver(long nowNanos) {
        return phase == Phase.PAUSING ? look(draft(), nowNanos) : stay();
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
     * @return withdraw, now or when the look in flight is answered
     */
    public Step left() {
        return leave(NONE, new AcquireAction.Withdraw());
    }

    private Step leave(AcquireAction whileLooking, AcquireAction whilePausing) {
        return switch (phase) {
            case LOOKING -> {
                Draft draft = draft();
                draft.phase = Phase.LEAVING;
                yield new Step(new AcquireState(draft), whileLooking);
            }
            case PAUSING -> end(whilePausing);
            case LEAVING, ENDED -> stay();
        };
    }

    private Step signal(Draft draft, long nowNanos) {
        if (phase == Phase.PAUSING) {
            return look(draft, nowNanos);
        }
        draft.signalled = true;
        return new Step(new AcquireState(draft), NONE);
    }

    private Step look(Draft draft, long nowNanos) {
        draft.phase = Phase.LOOKING;
        draft.attempt = attempt + 1;
        draft.sent = draft.sent.plus(nowNanos);
        draft.signalled = false;
        draft.lossTold = false;
        return new Step(new AcquireState(draft), new AcquireAction.Look(attempt + 1));
    }

    private Step lookAgain(Draft answered, Duration within, long nowNanos) {
        return signalled ? look(answered, nowNanos) : pause(answered, within, nowNanos);
    }

    private Step pause(Draft draft, Duration pause, long nowNanos) {
        draft.phase = Phase.PAUSING;
        return new Step(new AcquireState(draft), new AcquireAction.Pause(nowNanos + pause.toNanos()));
    }

    /**
     * In a queue whose signals arrive there is nothing to gain by asking: only the store's own limit counts. Without a place, or
     * without signals, the back-off does.
     */
    private Duration pauseAfter(LockAttempt answer, double random) {
        Duration within =
                answer instanceof Queued queued ? queued.lookAgainWithin() : ((Contended) answer).lookAgainWithin();
        if (answer instanceof Queued && armed) {
            return within;
        }
        Duration backoff = plan.backoff().pause(attempt, random);
        return backoff.compareTo(within) < 0 ? backoff : within;
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
        Phase phase = Phase.LOOKING;
        int attempt = 1;
        SentLooks sent;
        boolean armed;
        boolean signalled;
        boolean lossTold;
        boolean answered;
        int failures;
        long failingSinceNanos;

        @Nullable
        LockBackendException lastFailure;

        Draft(AcquirePlan plan, SentLooks sent, boolean armed) {
            this.plan = plan;
            this.sent = sent;
            this.armed = armed;
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
        }
    }
}
