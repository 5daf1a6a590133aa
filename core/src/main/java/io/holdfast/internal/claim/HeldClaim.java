package io.holdfast.internal.claim;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockEvent;
import io.holdfast.LockKind;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.internal.claim.ClaimState.Action;
import io.holdfast.internal.claim.ClaimState.Step;
import io.holdfast.internal.claim.LeaseState.Phase;
import io.holdfast.internal.claim.LeaseState.Side;
import io.holdfast.internal.engine.Activities.Activity;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.Renewable;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.internal.timing.StoreDurations;
import io.holdfast.internal.timing.Turn;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * How a {@link Claim} decides, and what it does while it holds. Each event replaces the {@linkplain ClaimState state}
 * by compare-and-set. The thread that succeeds carries out the action, so each action happens once. The claim is an
 * alarm, whose time is a function of the state. The handed-out {@link LeaseHandle} is held weakly: if it is garbage,
 * the next tick releases the lease.
 */
abstract class HeldClaim extends Activity implements ReleaseLoop.Result, Renewable {

    private static final AtomicReferenceFieldUpdater<HeldClaim, @Nullable ClaimState> STATE =
            AtomicReferenceFieldUpdater.newUpdater(HeldClaim.class, ClaimState.class, "state");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<HeldClaim, @Nullable Successor> SUCCESSOR =
            AtomicReferenceFieldUpdater.newUpdater(HeldClaim.class, Successor.class, "successor");

    final LockSettings lock;
    final PairedEvents holdEvents;
    final LeaseSignals grantedSignals;

    @Nullable
    LockClaim claim;

    volatile @Nullable ClaimState state;
    volatile @Nullable ClaimWatch watch;
    volatile @Nullable WeakReference<LeaseHandle> handle;

    /** Whether work may have begun under the lease: only then a least hold time counts. */
    volatile boolean handedOut;

    // The claim leaves its client when both are true.
    private volatile boolean emissionOver;
    private volatile boolean leaseOver;

    /** Written before the state that makes the claim a reader. */
    private volatile @Nullable LeaseSignals readerSignals;

    /** Written once for each side, by the first subscription to {@code export} or {@code downgrade}. */
    private volatile @Nullable Successor<?> successor;

    /** Whether the answer to a cancelled downgrade proved the hold. Another release was sent for it, and may be the first. */
    private volatile boolean isReleasedTwice;

    /** Written once, by the thread whose release counts. */
    private volatile long releasedAtNanos;

    /** The failure of an automatic renewal since the last confirmed one; only for the words of a loss. */
    private volatile @Nullable LockBackendException lastRenewalFailure;

    HeldClaim(LockSettings lock, boolean handedOut) {
        this.lock = lock;
        this.handedOut = handedOut;
        holdEvents = new PairedEvents(lock.engine().events);
        grantedSignals = new LeaseSignals(lock.engine().delivery);
    }

    abstract void broken(Throwable defect);

    abstract long heldSinceNanos();

    final void acquiring(Function<AcquireState, Step> event) {
        happens(AcquireState.class, event);
    }

    final void holding(Function<LeaseState, Step> event) {
        happens(LeaseState.class, event);
    }

    final <S extends ClaimState> void happens(Class<S> during, Function<S, Step> event) {
        try {
            Step step = decided(during, event);
            if (step != null) {
                act(step);
            }
        } catch (Throwable defect) {
            broken(defect);
        }
    }

    /** Returns the step for the caller to act on; null if nothing has changed. */
    final <S extends ClaimState> @Nullable Step decided(Class<S> during, Function<S, Step> event) {
        for (ClaimState before = state; during.isInstance(before); before = state) {
            Step step = event.apply(during.cast(before));
            ClaimState after = step.state();
            if (after.equals(before)) {
                return null;
            }
            if (STATE.compareAndSet(this, before, after)) {
                if (requireNonNull(before).wantsWake() || after.wantsWake()) {
                    setAlarm();
                }
                return step;
            }
        }
        return null;
    }

    /** Repeats until the alarm fits the present state: another thread may have set it for a newer state in between. */
    private void setAlarm() {
        ClaimState current;
        do {
            current = requireNonNull(state);
            if (current.wantsWake()) {
                engine().alarms.set(this, current.wakeAtNanos());
            } else {
                alarmOff();
            }
        } while (state != current);
    }

    final void alarmOff() {
        engine().alarms.off(this);
    }

    @Override
    public final void ring() {
        long now = now();
        WeakReference<LeaseHandle> handedTo = handle;
        if (handedTo != null && handedTo.get() == null && state instanceof LeaseState s && s.isValid(now)) {
            holdEvents.ended(new LockEvent.LeaseAbandoned(subject(), fencingToken(), heldFor()));
            holding(held -> held.releaseAsked(now));
        } else {
            happens(ClaimState.class, any -> any.tick(now));
        }
        setAlarm();
    }

    /** Never true again after false: to see the deadline passed decides the loss, and no later answer counts. */
    final boolean isValid(boolean asReader) {
        LeaseState current = lease();
        long now = now();
        if (current.isReader() == asReader && current.isValid(now)) {
            return true;
        }
        if (current.phase() == Phase.HELD) {
            // The timer signals the loss: the caller of this method does not expect to run the handlers of the loss.
            Step lost = decided(LeaseState.class, s -> s.tick(now));
            if (lost != null) {
                engine().alarms.set(Alarm.atTheLatestAtClose(() -> act(lost)), now);
            }
        }
        LeaseState decided = lease();
        return decided.isReader() == asReader && decided.isValid(now);
    }

    final long fencingToken() {
        return lease().hold().fencingToken();
    }

    final Duration heldFor() {
        return Duration.ofNanos(now() - lease().hold().grantedAtNanos());
    }

    final Loss loss(boolean asReader) {
        return Loss.of(lease(), asReader, lastRenewalFailure);
    }

    final LockLostException lost(boolean asReader) {
        return loss(asReader).exception(lockName(), fencingToken());
    }

    final void release(boolean asReader) {
        holding(s -> s.isReader() == asReader ? s.releaseAsked(now()) : s.stay());
    }

    /** Returns false when the lease has, or had, another successor. The successor gets the result. */
    final boolean succeed(boolean asReader, Successor<?> wanted) {
        // A downgrade is over when there is a reader, which may have a successor of its own.
        Successor<?> before = asReader && successor instanceof Successor.Downgrade done ? done : null;
        if (lease().isReader() != asReader || !SUCCESSOR.compareAndSet(this, before, wanted)) {
            return false;
        }
        holding(s -> wanted.asked(s, now()));
        Phase phase = lease().phase();
        if (phase == Phase.LOST || phase == Phase.RELEASING || phase == Phase.RELEASED) {
            wanted.failed(lost(asReader)); // the lease had ended before
        }
        return true;
    }

    final void successorCancelled(Successor<?> wanted) {
        if (successor == wanted) {
            holding(LeaseState::successorCancelled);
        }
    }

    final void releaseInBackground() {
        endAtStore(lastClaim(), lock.storeForgetsAtNanos(), new InBackground());
    }

    void act(Step step) {
        switch (step.action()) {
            case STOP_RENEWING -> signals().releaseAsked();
            case RENEW_BEFORE_EXPORT -> tellNested(this::renewBeforeExport);
            case ASK_FOR_READ_LEASE -> tellNested(this::askForReadLease);
            case EXPORT -> Turn.runUsersCode(this::exported);
            case RENEW -> engine().renewals.add(this);
            case RELEASE -> {
                releasedAtNanos = now();
                tellNested(() -> endAtStore(lastClaim(), lease().validUntilNanos(), this));
            }
            case SIGNAL_RELEASED, SIGNAL_LOSS, SIGNAL_LOSS_AND_RELEASE -> {
                if (Turn.isTaken()) {
                    Turn.runUsersCode(() -> end(step.action()));
                } else {
                    end(step.action());
                }
            }
            default -> {} // the answer to a downgrade has the read lease
        }
    }

    private void end(Action action) {
        LeaseState last = lease();
        LockLostException lost = last.lossReason() == null ? null : reportedLoss(last.isReader());
        stopWatching();
        LeaseSignals signals = signals();
        try {
            signals.end(lost);
        } finally {
            if (action == Action.SIGNAL_LOSS_AND_RELEASE || action == Action.EXPORT) {
                afterSignals(signals, () -> ended(action, lost));
            } else {
                ended(action, lost);
            }
        }
    }

    private LockLostException reportedLoss(boolean asReader) {
        Loss loss = loss(asReader);
        LockLostException lost = loss.exception(lockName(), fencingToken());
        holdEvents.ended(new LockEvent.Lost(subject(), fencingToken(), heldFor(), lost));
        return lost;
    }

    /** Nested work must not go on when the next owner gets the lock. */
    private void tellNested(Runnable next) {
        LeaseSignals signals = signals();
        try {
            signals.releaseAsked();
        } finally {
            afterSignals(signals, next);
        }
    }

    /** A busy thread of {@code deliverOn} delays it for an operation timeout at most, or half of the time of a close. */
    private void afterSignals(LeaseSignals signals, Runnable next) {
        if (signals.areDelivered()) {
            next.run();
        } else {
            signals.whenDelivered(next, engine().alarms, latestDelivery());
        }
    }

    private long latestDelivery() {
        return now() + (engine().isClosed() ? lock.operationNanos() / 2 : lock.operationNanos());
    }

    private void renewBeforeExport() {
        engine().renewals.add(this);
        engine().renewals.flush();
    }

    private void ended(Action action, @Nullable LockLostException lost) {
        if (action == Action.SIGNAL_LOSS_AND_RELEASE) {
            releaseInBackground();
        }
        Successor<?> wanted = successor;
        try {
            if (wanted != null && lost != null) {
                wanted.failed(lost);
            }
        } finally {
            if (action == Action.EXPORT && wanted instanceof Successor.Export export) {
                export.succeeded(leftOfMinHold()); // another process may hold the lock from then on
            } else {
                leaseOver();
            }
        }
    }

    /** Last: a caller that waits for the end of all leases then finds the release begun. */
    final void leaseOver() {
        leaseOver = true;
        leaveClient();
    }

    /** A {@code deliverOn} may drop a text that it has accepted: the client must be able to end all the same. */
    final void leaseOverInTime() {
        engine().alarms.set(Alarm.atTheLatestAtClose(this::leaseOver), latestDelivery());
    }

    final void emissionOver() {
        emissionOver = true;
        leaveClient();
    }

    private void leaveClient() {
        if (emissionOver && leaseOver) {
            engine().ended(this);
        }
    }

    final void stopWatching() {
        ClaimWatch current = watch;
        if (current != null) {
            current.dispose();
        }
    }

    final void endAtStore(LockClaim last, long untilNanos, ReleaseLoop.Result result) {
        long kept = isKept() ? keptUntilNanos() : now();
        ReleaseLoop.start(lock, last, kept, Validity.later(untilNanos, kept), result);
    }

    final boolean isKept() {
        return handedOut && lock.terms().minHoldNanos() > 0;
    }

    private long keptUntilNanos() {
        return heldSinceNanos() + lock.terms().minHoldNanos();
    }

    private LockClaim lastClaim() {
        LeaseState last = lease();
        return claimOf(last).withAttempt(last.hold().releaseAttempt());
    }

    final LockClaim claimOf(LeaseState s) {
        LeaseState.Hold hold = s.hold();
        if (hold.side() == Side.AS_GRANTED) {
            return claim().withAttempt(hold.attempt());
        }
        LockKey key = LockKey.of(LockKind.READ, lockName());
        return new LockClaim(key, claim().id(), claim().lease(), Waiting.NONE, hold.attempt(), 0, 1, claim().client());
    }

    @Override
    public final void released(Ownership ownership, boolean unknownBefore) {
        boolean mayHaveEnded = unknownBefore || isReleasedTwice;
        Step step = decided(LeaseState.class, s -> s.releaseAnswered(ownership, mayHaveEnded));
        if (step != null) {
            // In this order: a caller that gets the end of the lease, or of the client, then finds the release counted.
            if (step.action() == Action.SIGNAL_RELEASED && engine().events.areWanted()) {
                holdEvents.ended(new LockEvent.Released(subject(), fencingToken(), heldUntilReleased()));
            }
            act(step);
        }
    }

    @Override
    public final void takesLong() {
        Turn.runUsersCode(signals()::releaseTakesLong);
    }

    @Override
    public final void unconfirmed(LockBackendException lastFailure) {
        if (!holdEvents.ended(
                new LockEvent.ReleaseUnconfirmed(subject(), fencingToken(), heldUntilReleased(), lastFailure))) {
            report(new LockEvent.WithdrawalUnconfirmed(subject(), lastFailure));
        }
        holding(LeaseState::releaseGivenUp);
    }

    private Duration heldUntilReleased() {
        return Duration.ofNanos(releasedAtNanos - lease().hold().grantedAtNanos());
    }

    final class InBackground implements ReleaseLoop.Result {

        /** Only now: a grant that is pushed meanwhile needs no release of its own. */
        @Override
        public void released(Ownership ownership, boolean unknownBefore) {
            stopWatching();
        }

        @Override
        public void unconfirmed(LockBackendException lastFailure) {
            stopWatching();
            LockEvent event = new LockEvent.WithdrawalUnconfirmed(subject(), lastFailure);
            LossReason reason = state instanceof LeaseState s ? s.lossReason() : null;
            if (state instanceof AcquireState && !lastFailure.isTransient()) {
                // For example a wrong password: the attempts were refused too, and have reported it.
                engine().events.reportWithoutWarning(event);
            } else if (reason == null || reason == LossReason.CLIENT_CLOSED) { // other losses were reported
                report(event);
            }
        }
    }

    @Override
    public final LockSettings lock() {
        return lock;
    }

    @Override
    public final LockClaim renewal() {
        LockClaim current = claimOf(lease());
        return lock.terms().minHoldNanos() == 0
                ? current
                : current.withLease(lock.terms().leaseFor(keptUntilNanos() - now()));
    }

    @Override
    public final int renewalFailures() {
        return lease().failures();
    }

    @Override
    public final boolean isHeld() {
        return state instanceof LeaseState s && s.phase() == Phase.HELD;
    }

    @Override
    public final boolean startsRenewal() {
        if (isHeld() || lease().phase() == Phase.EXPORTING) {
            return true;
        }
        holding(s -> s.renewalFailed(true, now()));
        return false;
    }

    @Override
    public final void renewalAnswered(long sentAtNanos, Renewal answer) {
        if (answer instanceof Renewal.Unknown unknown) {
            renewalFailed(unknown.failure());
        } else {
            renewed(sentAtNanos, answer, true, s -> true);
        }
    }

    final void renewedByHand(boolean asReader, long sentAtNanos, Renewal answer) {
        renewed(sentAtNanos, answer, false, s -> s.isReader() == asReader);
    }

    private void renewed(long sentAtNanos, Renewal answer, boolean automatic, Predicate<LeaseState> isMeant) {
        if (answer instanceof Renewal.Held held) {
            long leaseNanos = StoreDurations.leaseNanos(held.lease());
            lastRenewalFailure = null;
            holding(s -> isMeant.test(s) ? s.renewed(sentAtNanos, leaseNanos, automatic, now()) : s.stay());
        } else if (answer instanceof Renewal.NotHeld) {
            holding(s -> isMeant.test(s) ? s.renewalDenied() : s.stay());
        }
    }

    @Override
    public final void renewalFailed(LockBackendException error) {
        lastRenewalFailure = error;
        holding(s -> s.renewalFailed(true, now()));
        if (isHeld() && engine().events.areWanted()) {
            Duration left = Duration.ofNanos(Math.max(0, lease().validUntilNanos() - now()));
            report(new LockEvent.RenewalFailed(subject(), fencingToken(), left, error));
        }
    }

    private void exported() {
        holdEvents.ended(new LockEvent.HandedOn(subject(), fencingToken(), heldFor()));
        end(Action.EXPORT);
    }

    private long leftOfMinHold() {
        return lock.terms().minHoldNanos() == 0 ? 0 : Math.max(0, keptUntilNanos() - now());
    }

    /** It has the next attempt, so that the adopter's release leaves a tombstone for late attempts of this client. */
    final ExportedLease handedOn(long minHoldNanos) {
        LockClaim last = claimOf(lease());
        LockClaim usual = last.withLease(lock.options().leaseDuration()).withAttempt(last.attempt() + 1);
        return new ExportedLease(usual, fencingToken(), minHoldNanos);
    }

    private void askForReadLease() {
        if (lease().phase() != Phase.DOWNGRADING) {
            return; // it was lost, or is released, while nested work was told
        }
        LockClaim attempt = claimOf(lease()).withLease(renewal().lease());
        Context context = successor instanceof Successor.Downgrade wanted ? wanted.emission.context() : Context.empty();
        long now = now();
        BackendCall.start(lock, context, readRequest(attempt, now), now);
    }

    /** The claim may be released before the attempt is sent: a lock that it gets then is released once more. */
    private BackendCall.Request<LockAttempt> readRequest(LockClaim attempt, long sentAtNanos) {
        return new BackendCall.Request<>() {

            private boolean isLate() {
                return lease().phase() != Phase.DOWNGRADING;
            }

            @Override
            public String what() {
                return "downgrade";
            }

            @Override
            public Mono<LockAttempt> ask() {
                return engine().backend.tryAcquire(attempt);
            }

            @Override
            public void answered(LockAttempt answer) {
                boolean isAcquired = answer instanceof LockAttempt.Acquired;
                if (answer instanceof LockAttempt.Acquired acquired && acquired.fencingToken() == fencingToken()) {
                    if (isLate()) {
                        isReleasedTwice = true;
                        releaseInBackground();
                    } else {
                        downgraded(sentAtNanos, StoreDurations.leaseNanos(acquired.lease()));
                    }
                    return;
                }
                if (!isLate()) {
                    holding(LeaseState::renewalDenied);
                }
                if (isAcquired) { // a new grant: another client may have held the lock in between
                    ReleaseLoop.start(lock, attempt, now(), lock.storeForgetsAtNanos(), new InBackground());
                }
            }

            @Override
            public void failed(LockBackendException error, int answered) {
                if (isLate()) {
                    releaseInBackground();
                    return;
                }
                lastRenewalFailure = error;
                report(new LockEvent.AttemptFailed(subject(), attempt.attempt(), error));
                holding(s -> s.downgradeFailed(now()));
            }
        };
    }

    /** The claim goes on as a reader, without an event: the writer's lease ends, and the read lease is emitted. */
    private void downgraded(long sentAtNanos, long leaseNanos) {
        LeaseSignals mine = new LeaseSignals(engine().delivery);
        LeaseHandle reader = new LeaseHandle(this, mine, true);
        readerSignals = mine;
        handle = new WeakReference<>(reader);
        Step step = decided(LeaseState.class, s -> s.downgraded(sentAtNanos, leaseNanos, now()));
        if (step != null && step.action() == Action.GO_ON_AS_READER) {
            Turn.runUsersCode(() -> {
                try {
                    grantedSignals.end(null);
                } finally {
                    if (successor instanceof Successor.Downgrade wanted) {
                        wanted.succeeded(reader);
                    }
                }
            });
        } else if (step != null) {
            act(step);
        }
    }

    private LeaseSignals signals() {
        LeaseSignals ofReader = readerSignals;
        return ofReader != null && lease().isReader() ? ofReader : grantedSignals;
    }

    final String lockName() {
        return lock.name();
    }

    /** Made for each event: a claim without a listener needs none. */
    final LockEvent.Subject subject() {
        String id = claim == null ? "" : claim.id(); // of an acquisition that could not begin, which has no events
        return new LockEvent.Subject(lockName(), lock.key().kind(), lock.permits(), id);
    }

    final void report(LockEvent event) {
        engine().events.report(event);
    }

    final long now() {
        return engine().alarms.now();
    }

    final Engine engine() {
        return lock.engine();
    }

    final LockClaim claim() {
        return requireNonNull(claim);
    }

    final LeaseState lease() {
        return (LeaseState) requireNonNull(state);
    }
}
