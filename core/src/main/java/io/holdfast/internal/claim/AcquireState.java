package io.holdfast.internal.claim;

import io.holdfast.LockBackendException;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.LockQueueFullException;
import io.holdfast.internal.claim.LeaseState.Answered;
import io.holdfast.internal.claim.LeaseState.Certainty;
import io.holdfast.internal.claim.LeaseState.Hold;
import io.holdfast.internal.engine.LockTerms;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.internal.timing.SentAttempts;
import io.holdfast.internal.timing.StoreDurations;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.WatchSignal.Granted;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition: its attempts, pauses and end.
 *
 * <p>One attempt is in flight at a time. A signal during an attempt is remembered, since the server may have processed
 * the attempt before the change that it signals. Only the answer to the attempt in flight counts. Any other answer is
 * too late and changes nothing: the claim either sends another attempt or is released, and both repair the effect of
 * the late one.
 */
final class AcquireState implements ClaimState, Cloneable {

    enum Phase {
        READY,
        ATTEMPTING,
        PAUSING,
        /** The subscriber has its end. An attempt is in flight, and its answer decides whether to withdraw the claim. */
        LEAVING,
        ENDED
    }

    private static final Duration LONGEST_RETRY = Duration.ofDays(1);

    /** An answer that takes longer is slow because of the server or the client, not of the network alone. */
    private static final long SLOW_NANOS = 50_000_000;

    private static final LockTerms NOT_YET = new LockTerms(LockOptions.defaults(), 0, 0, Duration.ZERO, 0);
    private static final AcquireState NEW = new AcquireState(0);

    /** The number of the exporter's last attempt; 0 unless the claim was adopted, and so holds the lock already. */
    private final int adoptedAttempt;

    // Written only while a method of this class makes the state.
    private LockTerms terms = NOT_YET;
    private Mode mode = Mode.TRY;
    private long giveUpAtNanos;
    private Phase phase = Phase.READY;
    private int attempt;
    private SentAttempts sent = SentAttempts.NONE;
    private boolean armed;
    private boolean signalled;
    private boolean lossSignalled;
    private boolean answered;

    /** Whether an attempt was never answered: it may still be under way, although later ones were answered. */
    private boolean unanswered;

    private int failures;
    private long failingSinceNanos;
    private @Nullable LockException failure;
    private long pauseUntilNanos;

    /** Until then no signal causes an attempt; in proportion to how long the server took for the last attempt. */
    private long restUntilNanos;

    private AcquireState(int adoptedAttempt) {
        this.adoptedAttempt = adoptedAttempt;
    }

    static AcquireState ready(int adoptedAttempt) {
        return adoptedAttempt == 0 ? NEW : new AcquireState(adoptedAttempt);
    }

    /** Sends the first attempt. {@code giveUpAt} counts if the options limit the wait. */
    Step begin(LockTerms wanted, Mode how, boolean isArmed, long giveUpAt, long nowNanos) {
        if (phase != Phase.READY) {
            return stay();
        }
        AcquireState after = copy();
        after.terms = wanted;
        after.mode = how;
        after.giveUpAtNanos = giveUpAt;
        after.armed |= isArmed;
        after.restUntilNanos = nowNanos; // not zero, which would not always be in the past: the clock may be below zero
        return attempt(after, nowNanos);
    }

    Phase phase() {
        return phase;
    }

    int attempt() {
        return attempt;
    }

    private int lastAttempt() {
        return isAdopted() ? adoptedAttempt : Math.max(1, attempt);
    }

    /** Returns the number that the release of the claim carries: that of the last attempt, or a later one. */
    int releaseAttempt() {
        return unanswered ? lastAttempt() + 1 : lastAttempt();
    }

    /** An adopted claim may have attempts of the exporter under way, which this client does not know. */
    private boolean isAdopted() {
        return adoptedAttempt != 0;
    }

    boolean isAnswered() {
        return answered;
    }

    @Nullable
    LockException failure() {
        return failure;
    }

    Step answered(int number, LockAttempt answer, long nowNanos, double random) {
        if (!isAwaited(number)) {
            return stay();
        }
        if (phase == Phase.LEAVING) {
            return end(copy(), Action.NONE, mode == Mode.WAIT || isAdopted() || !(answer instanceof Contended));
        }
        Step granted = answer instanceof Acquired it
                ? granted(it.fencingToken(), number, it.lease(), Certainty.CONFIRMED, nowNanos)
                : null;
        if (granted != null) {
            return granted;
        }
        AcquireState after = copy();
        after.sent = sent.answered(number);
        after.answered = true;
        after.failures = 0;
        if (answer instanceof Acquired) {
            return grantedTooLate(after, number, nowNanos, random);
        }
        if (mode != Mode.WAIT) {
            return end(after, mode == Mode.TRY ? Action.NOT_AVAILABLE : Action.TIMED_OUT, isAdopted());
        }
        // In a queue whose signals arrive, more attempts gain nothing: only the back end's own limit counts.
        boolean isQueued = answer instanceof Queued;
        long within = StoreDurations.pauseNanos(
                answer instanceof Queued queued
                        ? queued.nextAttemptWithin()
                        : ((Contended) answer).nextAttemptWithin());
        // The first attempt may have had to open a connection. Its duration says little about the server, and its pause
        // might miss a release.
        long rest = number == 1 ? 0 : restAfter(number, nowNanos, within);
        long pause = isQueued && armed ? within : Math.min(backoff(attempt, random), within);
        return attemptAgain(after, rest, Math.max(pause, rest), nowNanos);
    }

    private @Nullable Step granted(long token, int number, Duration lease, Certainty certainty, long nowNanos) {
        long sentAt = sent.sentAt(number);
        long leaseNanos = StoreDurations.leaseNanos(lease);
        if (Validity.isOver(Validity.until(sentAt, leaseNanos), nowNanos)) {
            return null;
        }
        Certainty known = lossSignalled ? Certainty.DOUBTED : certainty;
        Answered others = isAdopted() || !known.isAnswered() ? Answered.PERHAPS_NOT_THE_LAST : Answered.EACH;
        Hold hold = Hold.granted(token, lastAttempt(), unanswered ? Answered.NOT_ALL : others, nowNanos, terms);
        return new Step(LeaseState.of(hold, sentAt, leaseNanos, known), Action.DELIVER);
    }

    /**
     * This thread, or the back end, is slower than the lease. The claim tries again, at first at once: a new process
     * may have loaded its classes meanwhile. Without a wait, it tries once more, and for one lease at most.
     */
    private Step grantedTooLate(AcquireState after, int number, long nowNanos, double random) {
        boolean tooLong = failedAgain(after, number, nowNanos);
        if (mode != Mode.WAIT && failures > 0 && tooLong) {
            return end(after, Action.GRANTED_TOO_LATE, true);
        }
        long rest = failures == 0 ? 0 : restAfter(number, nowNanos, leaseNanos());
        return attemptAgain(after, rest, Math.max(backoff(number, random), rest), nowNanos);
    }

    Step attemptFailed(int number, LockBackendException error, long nowNanos, double random) {
        if (!isAwaited(number)) {
            return stay();
        }
        AcquireState after = copy();
        if (phase == Phase.LEAVING) {
            return end(after, Action.NONE, true);
        }
        after.answered = false;
        after.unanswered |= error.isUnderWay();
        after.failure = error;
        boolean tooLong = failedAgain(after, number, nowNanos) && !isLimited();
        if (mode == Mode.ONE_ATTEMPT && error.isTransient()) {
            return end(after, Action.TIMED_OUT, true);
        }
        if (mode == Mode.WAIT && error.retryAfter().isPresent()) {
            // The back end gives the reason and the time, so this failure does not count towards the series after which
            // the wait is given up. The waiters come a little later, at random, and so not all at one moment.
            after.failures = 0;
            Duration wanted = error.retryAfter().get();
            long retry = (wanted.compareTo(LONGEST_RETRY) < 0 ? wanted : LONGEST_RETRY).toNanos();
            return pause(after, retry + backoff(1, random), nowNanos);
        }
        if (mode != Mode.WAIT || !error.isTransient() || tooLong) {
            return end(after, Action.FAIL, true);
        }
        // The first failure may be a lost answer, and this claim may hold the lock already: only later failures slow
        // the waiter down.
        long rest = after.failures == 1 ? 0 : restAfter(number, nowNanos, leaseNanos());
        after.restUntilNanos = nowNanos + rest;
        return pause(after, Math.max(backoff(after.failures, random), rest), nowNanos);
    }

    private boolean failedAgain(AcquireState after, int number, long nowNanos) {
        after.failures = failures + 1;
        after.failingSinceNanos = failures == 0 ? sent.sentAt(number) : failingSinceNanos;
        return nowNanos - after.failingSinceNanos >= leaseNanos();
    }

    Step refused(int number, LockQueueFullException error) {
        return !isAwaited(number) ? stay() : refused(error, true);
    }

    Step refusedHere(LockException error) {
        return phase == Phase.READY ? refused(error, false) : stay();
    }

    private Step refused(LockException error, boolean withdraws) {
        AcquireState after = copy();
        after.failure = error;
        return end(after, phase == Phase.LEAVING ? Action.NONE : Action.FAIL, withdraws);
    }

    @Override
    public Step signalled(WatchSignal signal, int sentAttempt, long nowNanos) {
        if (signal instanceof Granted granted) {
            return granted(granted, sentAttempt >= attempt, nowNanos);
        }
        AcquireState after = copy();
        after.armed |= signal instanceof WatchSignal.Armed;
        after.lossSignalled |= signal instanceof WatchSignal.Lost; // perhaps of a grant whose answer is on its way
        return changed(after, nowNanos);
    }

    @Override
    public Step unwatched(long nowNanos) {
        AcquireState after = copy();
        after.armed = false;
        return changed(after, nowNanos);
    }

    private Step granted(Granted granted, boolean isSent, long nowNanos) {
        if (phase != Phase.ATTEMPTING && phase != Phase.PAUSING) {
            return stay();
        }
        boolean isUsable = (phase == Phase.PAUSING || isSent)
                && terms.options().minHoldTime().isEmpty() // a pushed grant is short: an attempt makes it a whole lease
                && sent.knows(granted.attempt());
        Certainty pushed = phase == Phase.ATTEMPTING ? Certainty.PUSHED_BEFORE_ANSWER : Certainty.PUSHED;
        Step delivery =
                isUsable ? granted(granted.fencingToken(), granted.attempt(), granted.lease(), pushed, nowNanos) : null;
        return delivery != null ? delivery : changed(copy(), nowNanos);
    }

    @Override
    public boolean wantsWake() {
        return phase == Phase.PAUSING || (phase == Phase.ATTEMPTING && isLimited());
    }

    @Override
    public long wakeAtNanos() {
        if (phase != Phase.PAUSING) {
            return giveUpAtNanos;
        }
        return isLimited() ? Validity.earlier(pauseUntilNanos, giveUpAtNanos) : pauseUntilNanos;
    }

    @Override
    public Step tick(long nowNanos) {
        if (!wantsWake() || !Validity.isOver(wakeAtNanos(), nowNanos)) {
            return stay();
        }
        return isLimited() && Validity.isOver(giveUpAtNanos, nowNanos) ? timedOut() : pauseOver(nowNanos);
    }

    Step pauseOver(long nowNanos) {
        return phase == Phase.PAUSING ? attempt(copy(), nowNanos) : stay();
    }

    Step timedOut() {
        return leave(Action.TIMED_OUT);
    }

    @Override
    public Step closed() {
        return leave(Action.CLOSED);
    }

    Step left() {
        return leave(Action.NONE);
    }

    Step broken() {
        boolean isUnsent = phase == Phase.READY && !isAdopted();
        return phase == Phase.ENDED ? stay() : end(copy(), Action.NONE, !isUnsent);
    }

    private Step leave(Action action) {
        AcquireState after = copy();
        return switch (phase) {
            case ATTEMPTING -> {
                after.phase = Phase.LEAVING;
                yield new Step(after, action);
            }
            case READY -> end(after, action, isAdopted());
            case PAUSING -> end(after, action, true);
            case LEAVING, ENDED -> stay();
        };
    }

    private Step changed(AcquireState after, long nowNanos) {
        if (phase == Phase.ENDED) {
            return stay();
        }
        if (phase != Phase.PAUSING) {
            after.signalled = true;
            return new Step(after, Action.NONE);
        }
        return Validity.isOver(restUntilNanos, nowNanos)
                ? attempt(after, nowNanos)
                : pause(after, restUntilNanos - nowNanos, nowNanos);
    }

    private static Step attempt(AcquireState after, long nowNanos) {
        after.phase = Phase.ATTEMPTING;
        after.attempt++;
        after.sent = after.sent.plus(nowNanos);
        after.signalled = false;
        after.lossSignalled = false;
        return new Step(after, Action.ATTEMPT);
    }

    private Step attemptAgain(AcquireState after, long rest, long pause, long nowNanos) {
        after.restUntilNanos = nowNanos + rest;
        if (!signalled) {
            return pause(after, pause, nowNanos);
        }
        return rest == 0 ? attempt(after, nowNanos) : pause(after, rest, nowNanos);
    }

    private static Step pause(AcquireState after, long pauseNanos, long nowNanos) {
        after.phase = Phase.PAUSING;
        after.pauseUntilNanos = nowNanos + pauseNanos;
        return new Step(after, Action.NONE);
    }

    /** Each waiter keeps a slow server busy for half of the time at most: each signal would add load. */
    private long restAfter(int number, long nowNanos, long mostNanos) {
        long took = nowNanos - sent.sentAt(number);
        return took < SLOW_NANOS ? 0 : Math.min(took, mostNanos);
    }

    private long backoff(int number, double random) {
        Duration pause = terms.options().backoff().pause(number, random);
        return Math.max(StoreDurations.LEAST_PAUSE_NANOS, pause.toNanos());
    }

    private long leaseNanos() {
        return terms.options().leaseDuration().toNanos();
    }

    private boolean isLimited() {
        return mode == Mode.WAIT && terms.options().waitTimeout().isPresent();
    }

    private boolean isAwaited(int number) {
        return number == attempt && (phase == Phase.ATTEMPTING || phase == Phase.LEAVING);
    }

    private Step stay() {
        return new Step(this, Action.NONE);
    }

    private static Step end(AcquireState after, Action action, boolean withdraws) {
        after.phase = Phase.ENDED;
        return new Step(after, action, withdraws);
    }

    private AcquireState copy() {
        try {
            return (AcquireState) clone();
        } catch (CloneNotSupportedException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
