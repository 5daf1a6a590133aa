package io.holdfast.internal.claim;

import io.holdfast.ClientReport;
import io.holdfast.LockBackendException;
import io.holdfast.LockEvent;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.internal.claim.LeaseState.Phase;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms;
import io.holdfast.internal.engine.Members;
import io.holdfast.internal.engine.Members.Stage;
import io.holdfast.internal.engine.MinHold;
import io.holdfast.internal.engine.Renewable;
import io.holdfast.internal.run.AlarmClock.Alarm;
import io.holdfast.internal.run.StoreDurations;
import io.holdfast.internal.run.Turn;
import io.holdfast.internal.run.Validity;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;

// Longer than other files: renewal, loss, release and succession race for one state, so a reader needs them together.

/**
 * The engine's side of a lease: renews it, detects its loss, releases it.
 *
 * <p>Each event replaces the state by compare-and-set. The thread that succeeds carries out the action, so each action
 * happens once. The engine refers to the handed-out {@link LeaseHandle} weakly: when the user's object is garbage, the
 * next tick releases the lease.
 */
public final class HeldLease extends Members.Member implements Renewable, ReleaseLoop.Result, ClaimWatch.Target {

    private static final AtomicReferenceFieldUpdater<HeldLease, LeaseState> STATE =
            AtomicReferenceFieldUpdater.newUpdater(HeldLease.class, LeaseState.class, "state");

    private static final AtomicReferenceFieldUpdater<HeldLease, @Nullable LeaseSuccession> SUCCESSION =
            AtomicReferenceFieldUpdater.newUpdater(HeldLease.class, LeaseSuccession.class, "succession");

    private final LockSettings lock;
    private final LockClaim claim;
    private final long fencingToken;
    private final long grantedAtNanos;
    private final Alarm alarm = Alarm.of(this::tick);
    private final LeaseSignals signals;
    private final WeakReference<LeaseHandle> handle;
    private final LeaseStory story;

    private volatile LeaseState state;

    /** Written once, by the first subscription to {@code export} or {@code downgrade}. */
    private volatile @Nullable LeaseSuccession succession;

    /**
     * The claim with the number of the last request that may take the lock; a release carries it. Written by the thread
     * that sends that request.
     */
    private volatile LockClaim lastAttempt;

    /** Written once, after the lease is open. */
    private volatile @Nullable ClaimWatch watch;

    /** Written once, by the thread whose release counts. */
    private volatile long releasedAtNanos;

    /**
     * Written when the lease is handed out, and again if no work has begun under it. True from the beginning for a lease
     * that continues another one.
     */
    private volatile boolean handedOut;

    /**
     * Whether a signal arrived after the lease was held: a read lease that follows then renews at once. Written by the
     * signalling thread.
     */
    private volatile boolean wasSignalledLast;

    /** The failure of an automatic renewal since the last confirmed one; only for the words of a loss. */
    private volatile @Nullable LockBackendException lastRenewalFailure;

    private HeldLease(
            LockSettings lock,
            LockClaim claim,
            Grant grant,
            boolean adopted,
            @Nullable HeldLease before,
            LeaseHandle[] handleOut) {
        this.lock = lock;
        this.claim = claim;
        lastAttempt = claim;
        fencingToken = grant.fencingToken();
        long now = lock.engine().alarms.now();
        grantedAtNanos = before == null ? now : before.grantedAtNanos;
        story = before == null ? new LeaseStory() : before.story;
        handedOut = adopted || before != null;
        state = LeaseState.of(grant, lock.terms().lease(grantedAtNanos), now);
        signals = new LeaseSignals(lock.engine().delivery);
        handleOut[0] = new LeaseHandle(this);
        handle = new WeakReference<>(handleOut[0]);
    }

    /**
     * Opens the lease of a grant. The lease lasts as long as its handle is reachable.
     *
     * @param adopted whether another process has held it before
     */
    static LeaseHandle open(
            LockSettings lock, LockClaim claim, Grant grant, boolean adopted, @Nullable ClaimWatch watch) {
        return open(lock, claim, grant, adopted, null, watch);
    }

    private static LeaseHandle open(
            LockSettings lock,
            LockClaim claim,
            Grant grant,
            boolean adopted,
            @Nullable HeldLease before,
            @Nullable ClaimWatch watch) {
        LeaseHandle[] handle = new LeaseHandle[1];
        HeldLease lease = new HeldLease(lock, claim, grant, adopted, before, handle);
        lock.engine().open(lease); // before the watch, which may end the lease at once
        lease.attach(watch != null ? watch : ClaimWatch.start(lock.engine().backend, claim, lease));
        lease.setAlarm();
        return handle[0];
    }

    private void attach(ClaimWatch claimed) {
        watch = claimed;
        claimed.handTo(this);
        boolean unused = claimed.armedSoFar();
        Phase phase = state.phase();
        if (phase == Phase.LOST || phase == Phase.RELEASED || phase == Phase.EXPORTED) {
            claimed.dispose(); // the lease ended before the watch was set
        }
    }

    public LockSettings lock() {
        return lock;
    }

    LockClaim claim() {
        return claim;
    }

    @Override
    public Stage stage() {
        return Stage.HOLDING;
    }

    @Override
    public String lockName() {
        return claim.key().name();
    }

    @Override
    public long operationNanos() {
        return lock.operationNanos();
    }

    /** Carries the usual lease duration, or the rest of the minimum. */
    @Override
    public LockClaim renewal() {
        LockTerms terms = lock.terms();
        return terms.minHoldNanos() == 0
                ? claim
                : claim.withLease(MinHold.lease(
                        lock.options().leaseDuration(),
                        keptUntilNanos() - lock.engine().alarms.now(),
                        terms.operationNanos()));
    }

    /** Returns until when the server keeps a lease that was handed out. */
    private long keptUntilNanos() {
        return grantedAtNanos + lock.terms().minHoldNanos();
    }

    long fencingToken() {
        return fencingToken;
    }

    @Override
    public boolean isHeld() {
        return state.phase() == Phase.HELD;
    }

    @Override
    public boolean isToBeRenewed() {
        Phase phase = state.phase();
        return phase == Phase.HELD || phase == Phase.EXPORTING;
    }

    /**
     * Returns whether the holder has ended the lease in any way: no lease is nested in it any more, and there is no
     * loss to report.
     */
    boolean isReleased() {
        return switch (state.phase()) {
            case RELEASED, RELEASING, EXPORTING, EXPORTED, STOPPING, DOWNGRADING, DOWNGRADED -> true;
            case HELD, LOST -> false;
        };
    }

    @Override
    public int renewalFailures() {
        return state.failures();
    }

    /**
     * After it has returned false, it never returns true again. To see the deadline passed decides the loss, and a
     * later answer does not count any more.
     */
    boolean isValid() {
        LeaseState current = state;
        long now = lock.engine().alarms.now();
        if (current.isValid(now)) {
            return true;
        }
        if (current.phase() == Phase.HELD) {
            // The timer signals the loss: the caller of this method does not expect to run the handlers of the loss.
            decide(s -> s.tick(now), this::actSoon);
        }
        return state.isValid(now);
    }

    Duration remaining() {
        return isValid()
                ? Duration.ofNanos(Math.max(
                        0, state.validUntilNanos() - lock.engine().alarms.now()))
                : Duration.ZERO;
    }

    Duration heldFor() {
        return Duration.ofNanos(lock.engine().alarms.now() - grantedAtNanos);
    }

    @Override
    public ClientReport.@Nullable Hold hold() {
        return !isHeld()
                ? null
                : new ClientReport.Hold(
                        claim.key().name(),
                        claim.key().kind(),
                        claim.permits(),
                        claim.id(),
                        fencingToken,
                        heldFor(),
                        Duration.ofNanos(Math.max(
                                0,
                                state.validUntilNanos() - lock.engine().alarms.now())));
    }

    @Nullable
    LossReason lossReason() {
        return state.lossReason();
    }

    LockLostException lost() {
        return loss().exception(claim.key().name(), fencingToken);
    }

    /** Returns the loss of a nested lease, when this lease is not valid any more. */
    Loss lossOfViews() {
        return isReleased() ? Loss.outermostReleased() : loss();
    }

    private Loss loss() {
        LeaseState current = state;
        LossReason reason = current.lossReason();
        if (current.phase() == Phase.EXPORTING || current.phase() == Phase.EXPORTED) {
            return Loss.handedOn();
        }
        if (current.phase() == Phase.STOPPING
                || current.phase() == Phase.DOWNGRADING
                || current.phase() == Phase.DOWNGRADED) {
            return Loss.downgraded();
        }
        if (reason == LossReason.EXPIRED && !lastAttempt.equals(claim) && !current.reachedLongestHold()) {
            return Loss.notDowngraded(lastRenewalFailure);
        }
        return reason == null ? Loss.released() : Loss.of(current, reason, lock.options(), lastRenewalFailure);
    }

    LeaseSignals signals() {
        return signals;
    }

    /** Called right before the acquisition emits the lease. */
    void begun() {
        story.begun(lock.engine().events);
    }

    /** Called right before the holder gets the lease: from now on a least hold time counts. */
    public void handedOut() {
        handedOut = true;
    }

    /** Releases; the least hold time counts only if the lease was handed out. */
    void release() {
        long now = lock.engine().alarms.now();
        decide(s -> s.releaseAsked(now));
    }

    /** Releases a lease under which no work has begun: the minimum does not apply. */
    void releaseUnused() {
        handedOut = false;
        release();
    }

    /** Returns false when the lease has, or had, another successor. The export gets the result. */
    boolean export(LeaseExport wanted) {
        return succeedBy(wanted, LeaseState::exportAsked);
    }

    /** Returns false when the lease has, or had, another successor. The downgrade gets the result. */
    boolean downgrade(LeaseDowngrade wanted) {
        return succeedBy(wanted, LeaseState::downgradeAsked);
    }

    private boolean succeedBy(LeaseSuccession wanted, BiFunction<LeaseState, Long, LeaseState.Step> asked) {
        if (!SUCCESSION.compareAndSet(this, null, wanted)) {
            return false;
        }
        long now = lock.engine().alarms.now();
        decide(s -> asked.apply(s, now));
        Phase phase = state.phase();
        if (phase == Phase.LOST || phase == Phase.RELEASING || phase == Phase.RELEASED) {
            wanted.failed(lost()); // the lease had ended before
        }
        return true;
    }

    void exportCancelled() {
        decide(LeaseState::exportCancelled);
    }

    void downgradeCancelled() {
        decide(LeaseState::downgradeCancelled);
    }

    /** Releases the claim: no process will get the text. */
    void releaseHandedOn() {
        endAtStore(lock.storeForgetsAtNanos(), new ReleaseInBackground());
    }

    /** Emits the text last: another process may hold the lock from then on. */
    private void exported() {
        long left = lock.terms().minHoldNanos() == 0
                ? 0
                : Math.max(0, keptUntilNanos() - lock.engine().alarms.now());
        boolean unused = reportEnd(new LockEvent.HandedOn(claim.key().name(), fencingToken, heldFor()));
        try {
            end(() -> {});
        } finally {
            if (succession instanceof LeaseExport wanted) {
                wanted.succeeded(() -> handedOn(left));
            }
        }
    }

    /**
     * Returns the lease as the adopter gets it. Its attempt has the next number: so the adopter's release leaves a
     * tombstone for late attempts of this client.
     */
    private ExportedLease handedOn(long minHoldNanos) {
        LockClaim usual = claim.withLease(lock.options().leaseDuration()).withAttempt(claim.attempt() + 1);
        return new ExportedLease(usual, fencingToken, minHoldNanos);
    }

    /** Sends an attempt of the same claim with the next number and the other kind. */
    private void askForReadLease() {
        LockClaim attempt = new LockClaim(
                reading().key(), claim.id(), renewal().lease(), Waiting.NONE, lastAttempt.attempt() + 1, 0, 1);
        lastAttempt = attempt;
        setAlarm();
        Context context = succession instanceof LeaseDowngrade wanted ? wanted.context() : Context.empty();
        long now = lock.engine().alarms.now();
        BackendCall.start(
                lock.engine(),
                lock.key().name(),
                lock.operationNanos(),
                context,
                new DowngradeRequest(this, attempt, now),
                now);
    }

    private LockSettings reading() {
        return new LockSettings(
                lock.engine(), LockKey.of(LockKind.READ, claim.key().name()), 1, lock.terms());
    }

    boolean isDowngrading() {
        return state.phase() == Phase.DOWNGRADING;
    }

    /** Handles the answer that the claim does not hold the lock, or a new grant. */
    void downgradeDenied() {
        decide(LeaseState::renewalDenied);
    }

    /** Handles the answer that the claim is now a reader, as of that attempt. */
    void downgraded(LockClaim attempt, long sentAtNanos, long leaseNanos) {
        long now = lock.engine().alarms.now();
        decide(s -> s.downgraded(sentAtNanos, leaseNanos, now), action -> {
            if (action == LeaseAction.GO_ON_AS_READER) {
                goOnAsReader(attempt, sentAtNanos, leaseNanos);
            } else {
                act(action);
            }
        });
        setAlarm();
    }

    void downgradeFailed(LockClaim attempt, LockBackendException error) {
        long now = lock.engine().alarms.now();
        lastRenewalFailure = error;
        lock.engine().events.report(new LockEvent.AttemptFailed(lock.key().name(), attempt.attempt(), error));
        decide(s -> s.downgradeFailed(now));
        setAlarm();
    }

    /** Releases once more after a downgrade that was answered too late. A least hold time counts as before. */
    void releaseAgain() {
        endAtStore(lock.storeForgetsAtNanos(), new ReleaseInBackground());
    }

    /** Releases a new grant, under which no work has begun. */
    void releaseInBackground(LockClaim attempt) {
        ReleaseLoop.start(lock, attempt, lock.storeForgetsAtNanos(), new ReleaseInBackground());
    }

    /** Continues the hold: this lease ends without an event, and the read lease takes over its watch and its story. */
    private void goOnAsReader(LockClaim attempt, long sentAtNanos, long leaseNanos) {
        Grant grant = new Grant(fencingToken, sentAtNanos, leaseNanos, Grant.Standing.CONFIRMED);
        LeaseHandle reader = open(reading(), attempt, grant, false, this, watch);
        if (wasSignalledLast) {
            reader.held().verify();
        }
        Turn.runUsersCode(() -> {
            try {
                signals.end(null);
            } finally {
                lock.engine().ended(this);
                if (succession instanceof LeaseDowngrade wanted) {
                    wanted.succeeded(reader);
                }
            }
        });
    }

    @Override
    public void renewalNotSent() {
        long now = lock.engine().alarms.now();
        decide(s -> s.renewalFailed(true, now));
    }

    @Override
    public void close() {
        decide(s -> s.lose(LossReason.CLIENT_CLOSED));
    }

    /** Handles the result of a renewal by the user. */
    void renewedByHand(long sentAtNanos, Renewal answer) {
        renewed(sentAtNanos, answer, false);
    }

    @Override
    public void renewalAnswered(long sentAtNanos, Renewal answer) {
        if (answer instanceof Renewal.Unknown unknown) {
            renewalFailed(unknown.failure());
        } else {
            renewed(sentAtNanos, answer, true);
        }
    }

    private void renewed(long sentAtNanos, Renewal answer, boolean automatic) {
        long now = lock.engine().alarms.now();
        if (answer instanceof Renewal.Held held) {
            long leaseNanos = StoreDurations.leaseNanos(held.lease());
            lastRenewalFailure = null;
            decide(s -> s.renewed(sentAtNanos, leaseNanos, automatic, now));
        } else if (answer instanceof Renewal.NotHeld) {
            decide(LeaseState::renewalDenied);
        }
        setAlarm();
    }

    @Override
    public void renewalFailed(LockBackendException error) {
        long now = lock.engine().alarms.now();
        lastRenewalFailure = error;
        decide(s -> s.renewalFailed(true, now));
        setAlarm();
        if (isHeld() && lock.engine().events.areWanted()) {
            lock.engine()
                    .events
                    .report(new LockEvent.RenewalFailed(claim.key().name(), fencingToken, remaining(), error));
        }
    }

    @Override
    public void signalled(ClaimWatch from, WatchSignal signal) {
        noteSignal();
        if (!equals(from.target())) {
            from.target().signalled(from, signal); // it was on its way when the read lease took over
        } else if (signal instanceof WatchSignal.Lost gone) {
            decide(s -> s.lose(gone.reason()));
        } else if (!(signal instanceof WatchSignal.Granted)) {
            verify();
        }
    }

    @Override
    public void signalsStopped(ClaimWatch from) {
        noteSignal();
        if (equals(from.target())) {
            verify();
        } else {
            from.target().signalsStopped(from);
        }
    }

    /**
     * Runs before the target is read: a read lease first becomes the target, and then reads this flag. So one of the
     * two sees the signal.
     */
    private void noteSignal() {
        if (state.phase() != Phase.HELD) {
            wasSignalledLast = true;
        }
    }

    private void verify() {
        long now = lock.engine().alarms.now();
        decide(s -> s.verify(now));
        setAlarm();
    }

    private void tick() {
        long now = lock.engine().alarms.now();
        if (handle.get() == null && isHeld() && !Validity.isOver(state.validUntilNanos(), now)) {
            boolean unused = reportEnd(new LockEvent.LeaseAbandoned(claim.key().name(), fencingToken, heldFor()));
            release();
        } else {
            decide(s -> s.tick(now));
            setAlarm();
        }
    }

    /** Repeats until the alarm fits the present state: another thread may have set it for a newer state in between. */
    private void setAlarm() {
        LeaseState current;
        do {
            current = state;
            Phase phase = current.phase();
            if (phase == Phase.HELD || phase == Phase.STOPPING || phase == Phase.DOWNGRADING) {
                lock.engine().alarms.set(alarm, current.wakeAtNanos());
            } else {
                lock.engine().alarms.off(alarm);
            }
        } while (!state.equals(current));
    }

    private void decide(Function<LeaseState, LeaseState.Step> event) {
        decide(event, this::act);
    }

    private void actSoon(LeaseAction action) {
        AtomicBoolean acted = new AtomicBoolean();
        Runnable once = () -> {
            if (acted.compareAndSet(false, true)) {
                act(action);
            }
        };
        lock.engine()
                .alarms
                .set(Alarm.atTheLatestAtClose(once), lock.engine().alarms.now());
        if (lock.engine().alarms.isClosed()) {
            once.run(); // the clock is closed: no alarm rings any more
        }
    }

    private void decide(Function<LeaseState, LeaseState.Step> event, Consumer<LeaseAction> actor) {
        while (true) {
            LeaseState before = state;
            LeaseState.Step step = event.apply(before);
            if (step.state().equals(before)) {
                return;
            }
            if (STATE.compareAndSet(this, before, step.state())) {
                actor.accept(step.action());
                return;
            }
        }
    }

    private void act(LeaseAction action) {
        switch (action) {
            case NONE, GO_ON_AS_READER -> {} // the answer has the data for the read lease
            case STOP_RENEWING -> stopRenewing();
            case RENEW_BEFORE_EXPORT -> {
                try {
                    stopRenewing();
                } finally {
                    lock.engine().renewals.add(this);
                    lock.engine().renewals.flush();
                }
            }
            case EXPORT -> Turn.runUsersCode(this::exported);
            case ASK_FOR_READ_LEASE -> askForReadLease();
            case RENEW -> lock.engine().renewals.add(this);
            case RELEASE -> {
                releasedAtNanos = lock.engine().alarms.now();
                lock.engine().alarms.off(alarm);
                try {
                    // before the release: nested work must not go on when the next owner gets the lock
                    signals.releaseAsked();
                } finally {
                    endAtStore(state.validUntilNanos(), this);
                }
            }
            case SIGNAL_RELEASED, SIGNAL_LOSS, SIGNAL_LOSS_AND_RELEASE -> {
                if (Turn.isTaken()) {
                    Turn.runUsersCode(() -> signal(action));
                } else {
                    signal(action);
                }
            }
        }
    }

    private void stopRenewing() {
        setAlarm();
        signals.releaseAsked(); // nested work must not go on
    }

    /** Signals the end to the holder. */
    private void signal(LeaseAction action) {
        if (action == LeaseAction.SIGNAL_RELEASED) {
            end(() -> {});
        } else if (action == LeaseAction.SIGNAL_LOSS) {
            signalLoss(() -> {});
        } else {
            // In this order: the release may let the next owner in, while the work under this lease goes on.
            signalLoss(() -> endAtStore(lock.storeForgetsAtNanos(), new ReleaseInBackground()));
        }
    }

    private void endAtStore(long untilNanos, ReleaseLoop.Result result) {
        if (handedOut && lock.terms().minHoldNanos() > 0) {
            ReleaseLoop.start(
                    lock, lastAttempt, keptUntilNanos(), Validity.later(untilNanos, keptUntilNanos()), result);
        } else {
            ReleaseLoop.start(lock, lastAttempt, untilNanos, result);
        }
    }

    private void signalLoss(Runnable then) {
        lock.engine().alarms.off(alarm); // a released lease has no alarm any more
        LossReason reason = state.lossReason();
        if (reason != null) {
            String why = loss().why();
            boolean unused = reportEnd(new LockEvent.Lost(claim.key().name(), fencingToken, reason, heldFor(), why));
        }
        end(then);
    }

    private void end(Runnable then) {
        ClaimWatch current = watch;
        if (current != null) {
            current.dispose();
        }
        try {
            signals.end(state.lossReason() == null ? null : lost());
        } finally {
            then.run();
            LeaseSuccession wanted = succession;
            if (wanted != null && state.lossReason() != null) {
                wanted.failed(lost());
            }
            // last: a caller that waits for the end of all leases then finds the release begun
            lock.engine().ended(this);
        }
    }

    @Override
    public void released(Ownership ownership, boolean unknownBefore) {
        decide(s -> s.releaseAnswered(ownership, unknownBefore), this::reportAndAct);
    }

    /** In this order: a caller that gets the end of the lease, or of the client, then finds the release counted. */
    private void reportAndAct(LeaseAction action) {
        if (action == LeaseAction.SIGNAL_RELEASED && lock.engine().events.areWanted()) {
            boolean unused = reportEnd(new LockEvent.Released(claim.key().name(), fencingToken, heldUntilReleased()));
        }
        act(action);
    }

    @Override
    public void takesLong() {
        Turn.runUsersCode(signals::releaseTakesLong);
    }

    @Override
    public void unconfirmed(LockBackendException lastFailure) {
        String name = claim.key().name();
        if (!reportEnd(new LockEvent.ReleaseUnconfirmed(name, fencingToken, heldUntilReleased(), lastFailure))) {
            lock.engine().events.report(new LockEvent.WithdrawalUnconfirmed(name, lastFailure));
        }
        decide(LeaseState::releaseGivenUp);
    }

    private boolean reportEnd(LockEvent end) {
        return story.ended(end, lock.engine().events);
    }

    private Duration heldUntilReleased() {
        return Duration.ofNanos(releasedAtNanos - grantedAtNanos);
    }

    /** Releases after the end was reported. After a loss, it reports a failure only if the client was closing. */
    private final class ReleaseInBackground implements ReleaseLoop.Result {

        @Override
        public void released(Ownership ownership, boolean unknownBefore) {}

        @Override
        public void takesLong() {}

        @Override
        public void unconfirmed(LockBackendException lastFailure) {
            LossReason reason = state.lossReason();
            if (reason == null || reason == LossReason.CLIENT_CLOSED) {
                lock.engine()
                        .events
                        .report(new LockEvent.WithdrawalUnconfirmed(claim.key().name(), lastFailure));
            }
        }
    }
}
