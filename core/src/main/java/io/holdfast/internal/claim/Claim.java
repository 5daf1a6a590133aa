package io.holdfast.internal.claim;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.ClientReport;
import io.holdfast.LockBackendException;
import io.holdfast.LockEvent;
import io.holdfast.LockException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockQueueFullException;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.holdfast.internal.claim.AcquireState.Phase;
import io.holdfast.internal.claim.LeaseState.Side;
import io.holdfast.internal.engine.AcquirePlan;
import io.holdfast.internal.engine.AcquirePlan.Mode;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms;
import io.holdfast.internal.engine.Members.Member;
import io.holdfast.internal.engine.Members.Stage;
import io.holdfast.internal.engine.MinHold;
import io.holdfast.internal.engine.Renewable;
import io.holdfast.internal.run.AlarmClock.Alarm;
import io.holdfast.internal.run.Fallible;
import io.holdfast.internal.run.StoreDurations;
import io.holdfast.internal.run.Turn;
import io.holdfast.internal.run.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

// Longer than other files: all events of a claim race for one state, so a reader needs them together.

/**
 * One claim, from the subscription to the release: sends its attempts, hands out its lease, renews it, detects its loss
 * and releases it.
 *
 * <p>Each event replaces the {@linkplain ClaimState state} by compare-and-set. The thread that succeeds carries out the
 * action, so each action happens once. The alarm is a function of the state. Once an attempt is on its way, only its
 * answer shows what to undo, so nothing cancels it; and a lease is not handed out while another thread is about to send
 * an attempt of its claim, which could arrive after the release.
 *
 * <p>The engine refers to the handed-out {@link LeaseHandle} weakly: when the user's object is garbage, the next tick
 * releases the lease.
 */
final class Claim extends Member implements Subscription, ClaimWatch.Target, ReleaseLoop.Result, Renewable {

    private static final Logger LOG = LoggerFactory.getLogger(Claim.class);

    private static final AtomicReferenceFieldUpdater<Claim, ClaimState> STATE =
            AtomicReferenceFieldUpdater.newUpdater(Claim.class, ClaimState.class, "state");

    private static final AtomicReferenceFieldUpdater<Claim, @Nullable Successor> SUCCESSOR =
            AtomicReferenceFieldUpdater.newUpdater(Claim.class, Successor.class, "successor");

    private static final AtomicIntegerFieldUpdater<Claim> SENDS =
            AtomicIntegerFieldUpdater.newUpdater(Claim.class, "sends");

    private static final AtomicIntegerFieldUpdater<Claim> ADMITTED =
            AtomicIntegerFieldUpdater.newUpdater(Claim.class, "admitted");

    private final LockSettings lock;
    private final AcquirePlan plan;

    /** The exported claim that it adopts; null for a new claim. */
    private final @Nullable Adoption adoption;

    /** Whether its lease is one of several, which are handed out together. */
    private final boolean isMember;

    private final Emission<LeaseHandle> emission;
    private final PairedEvents acquireEvents;
    private final PairedEvents holdEvents = new PairedEvents();
    private final LeaseSignals grantedSignals;
    private final Alarm alarm = new Tick();

    /** The attempts of the claims before it in the same subscription. */
    private final int attemptsBefore;

    // Written by the thread of the first request, before the state is.
    private long startedAtNanos;
    private @Nullable LockClaim claim;

    private volatile @Nullable ClaimState state;

    /** The number of the last attempt that has left this thread; an earlier number only delays a pushed grant. */
    private volatile int sentAttempt;

    private volatile @Nullable ClaimWatch watch;

    /** 1 while it counts towards the client's limit of waiters. */
    private volatile int admitted;

    /** The first claim of the subscription: the subscriber cancels that one. */
    private final Claim first;

    /** In the first claim: the claim that has begun again in its place, since its grant was over when it arrived. */
    private volatile @Nullable Claim latest;

    /** Drain-loop counter (WIP) of the attempts. */
    @SuppressWarnings("unused") // only SENDS uses it
    private volatile int sends;

    private volatile int attemptToSend;

    // The claim leaves its client when both are true.
    private volatile boolean emissionOver;
    private volatile boolean leaseOver;

    private volatile @Nullable WeakReference<LeaseHandle> handle;

    /** Written before the state that makes the claim a reader. */
    private volatile @Nullable LeaseSignals readerSignals;

    /** Written once, by the first subscription to {@code export} or {@code downgrade}. */
    private volatile @Nullable Successor successor;

    /** Written once, by the thread whose release counts. */
    private volatile long releasedAtNanos;

    /** Whether work may have begun under the lease: only then a least hold time counts. */
    private volatile boolean handedOut;

    /** The failure of an automatic renewal since the last confirmed one; only for the words of a loss. */
    private volatile @Nullable LockBackendException lastRenewalFailure;

    Claim(LockSettings lock, AcquirePlan plan, boolean isMember, CoreSubscriber<? super LockLease> subscriber) {
        this(
                lock,
                plan,
                null,
                isMember,
                new Emission<>(subscriber, lock.engine().delivery),
                new PairedEvents(),
                null,
                0);
    }

    Claim(LockSettings lock, AcquirePlan plan, Adoption adoption, CoreSubscriber<? super LockLease> subscriber) {
        this(
                lock,
                plan,
                adoption,
                false,
                new Emission<>(subscriber, lock.engine().delivery),
                new PairedEvents(),
                null,
                0);
    }

    private Claim(
            LockSettings lock,
            AcquirePlan plan,
            @Nullable Adoption adoption,
            boolean isMember,
            Emission<LeaseHandle> emission,
            PairedEvents acquireEvents,
            @Nullable Claim first,
            int attemptsBefore) {
        this.lock = lock;
        this.plan = plan;
        this.adoption = adoption;
        this.isMember = isMember;
        this.emission = emission;
        this.acquireEvents = acquireEvents;
        this.first = first == null ? this : first;
        this.attemptsBefore = attemptsBefore;
        grantedSignals = new LeaseSignals(lock.engine().delivery);
        handedOut = adoption != null;
    }

    // ---- The subscription

    @Override
    public void request(long n) {
        if (!Operators.validate(n) || !emission.isIdle()) {
            return;
        }
        startedAtNanos = now();
        if (emission.open()) {
            start(true);
        }
    }

    @Override
    public void cancel() {
        emission.leave(() -> {
            Claim claimed = latest;
            (claimed != null ? claimed : this).left();
        });
    }

    private void start(boolean isFirst) {
        try {
            open();
            if (isFirst) {
                if (engine().events.areWanted()) {
                    report(new LockEvent.AcquireStarted(lockName()));
                }
                acquireEvents.begun(engine().events);
            }
            begin();
        } catch (Throwable defect) {
            broken(defect);
        }
    }

    private void open() {
        claim = adoption != null ? adoption.claim() : lock.newClaim(plan.mode());
        engine().open(this); // before the state: a cancellation takes it off the list again
        state = AcquireState.ready(adoption != null);
        if (emission.isOver()) {
            left(); // the cancellation may have come before the state
        }
    }

    private void begin() {
        if (engine().refuses(this)) {
            acquiring(AcquireState::closed);
            return;
        }
        if (!(state instanceof AcquireState ready) || ready.phase() != Phase.READY) {
            return; // the subscriber has cancelled, or the client closes
        }
        if (!isAdmitted()) {
            acquiring(s -> s.refusedHere(engine().admission.refusal(lockName())));
            return;
        }
        ClaimWatch started = plan.mode() == Mode.WAIT ? ClaimWatch.start(engine().backend, claim(), this) : null;
        watch = started;
        boolean armed = started != null && started.armedSoFar();
        long giveUpAt = startedAtNanos
                + lock.options().waitTimeout().map(Duration::toNanos).orElse(0L);
        acquiring(s -> s.begin(plan, armed && started != null && !started.hasStopped(), giveUpAt, now()));
        if (state instanceof AcquireState s && s.phase() == Phase.ENDED && s.attempt() == 0) {
            leaveAdmission(); // it ended before it had a place
            stopWatching();
        }
    }

    /** Counts once: a claim that begins again keeps the place of the one before it. Only a wait needs a place. */
    private boolean isAdmitted() {
        if (plan.mode() != Mode.WAIT || admitted == 1) {
            return true;
        }
        boolean isAdmitted = engine().admission.enter();
        admitted = isAdmitted ? 1 : 0;
        return isAdmitted;
    }

    /** Leaves once. Called before the error, since the subscriber may begin another acquisition when it gets it. */
    private void leaveAdmission() {
        if (ADMITTED.compareAndSet(this, 1, 0)) {
            engine().admission.leave();
        }
    }

    private void left() {
        reportCancelled();
        if (isKeptWhenItLeaves() && state instanceof AcquireState s && s.phase() != Phase.ENDED) {
            engine().keptClaims.add(claim().id()); // before the answer: the text may be adopted again at once
        }
        acquiring(AcquireState::left);
    }

    private void reportCancelled() {
        acquireEvents.ended(new LockEvent.AcquireCancelled(lockName(), waited(), attempts()), engine().events);
    }

    // ---- The client

    @Override
    public Stage stage() {
        ClaimState current = state;
        if (current instanceof LeaseState) {
            return Stage.HOLDING;
        }
        return current instanceof AcquireState s && s.phase() == Phase.ENDED ? Stage.RELEASING : Stage.ACQUIRING;
    }

    @Override
    public boolean isPartOfWork() {
        return HeldLocks.isWork(engine(), emission.context());
    }

    @Override
    public void refuse() {
        acquiring(AcquireState::closed);
    }

    @Override
    public void close() {
        if (!acquiring(AcquireState::closed)) {
            holding(s -> s.lose(LossReason.CLIENT_CLOSED));
        }
    }

    @Override
    public ClientReport.@Nullable Wait waiting() {
        return stage() == Stage.ACQUIRING
                ? new ClientReport.Wait(lockName(), lock.key().kind(), lock.permits(), waited())
                : null;
    }

    @Override
    public ClientReport.@Nullable Hold hold() {
        if (!(state instanceof LeaseState s) || s.phase() != LeaseState.Phase.HELD) {
            return null;
        }
        LockClaim current = claimOf(s);
        return new ClientReport.Hold(
                lockName(),
                current.key().kind(),
                current.permits(),
                current.id(),
                s.hold().fencingToken(),
                heldFor(),
                Duration.ofNanos(Math.max(0, s.validUntilNanos() - now())));
    }

    private void ended() {
        engine().ended(this);
        leaveAdmission();
    }

    // ---- Deciding

    /** Returns false when the claim does not acquire any more; the event is for its lease then. */
    @CanIgnoreReturnValue
    private boolean acquiring(Function<AcquireState, AcquireState.Step> event) {
        try {
            while (state instanceof AcquireState before) {
                AcquireState.Step step = event.apply(before);
                if (step.state() == before) {
                    return true;
                }
                ClaimState after = step.action() instanceof AcquireAction.Deliver granted
                        ? LeaseState.of(
                                granted.grant(),
                                attemptOf(step.state()),
                                lock.terms().lease(now()),
                                now())
                        : step.state();
                if (STATE.compareAndSet(this, before, after)) {
                    setAlarm(before, after);
                    act(step);
                    return true;
                }
            }
            return false;
        } catch (Throwable defect) {
            broken(defect);
            return true;
        }
    }

    private void holding(Function<LeaseState, LeaseState.Step> event) {
        LeaseAction action = decided(event);
        if (action != null) {
            act(action);
        }
    }

    /** Returns the action for the caller to carry out; null if nothing has changed. */
    private @Nullable LeaseAction decided(Function<LeaseState, LeaseState.Step> event) {
        while (state instanceof LeaseState before) {
            LeaseState.Step step = event.apply(before);
            if (step.state().equals(before)) {
                return null;
            }
            if (STATE.compareAndSet(this, before, step.state())) {
                setAlarm(before, step.state());
                return step.action();
            }
        }
        return null;
    }

    private void setAlarm(ClaimState before, ClaimState after) {
        if (before.wantsWake() || after.wantsWake()) {
            setAlarm();
        }
    }

    /** Repeats until the alarm fits the present state: another thread may have set it for a newer state in between. */
    private void setAlarm() {
        ClaimState current;
        do {
            current = state();
            if (current.wantsWake()) {
                engine().alarms.set(alarm, current.wakeAtNanos());
            } else {
                engine().alarms.off(alarm);
            }
        } while (state != current);
    }

    private final class Tick extends Alarm {

        @Override
        public void ring() {
            tick();
        }

        @Override
        public boolean ringsAtClose() {
            return false;
        }
    }

    private void tick() {
        long now = now();
        if (acquiring(s -> s.tick(now))) {
            setAlarm();
            return;
        }
        WeakReference<LeaseHandle> handedTo = handle;
        if (handedTo != null && handedTo.get() == null && state instanceof LeaseState s && s.isValid(now)) {
            boolean unused = reportEnd(new LockEvent.LeaseAbandoned(lockName(), fencingToken(), heldFor()));
            holding(held -> held.releaseAsked(now));
        } else {
            holding(s -> s.tick(now));
        }
        setAlarm();
    }

    @Override
    public void signalled(WatchSignal signal) {
        long now = now();
        if (signal instanceof WatchSignal.Granted granted) {
            acquiring(s -> s.granted(granted, sentAttempt >= s.attempt(), now));
        } else if (signal instanceof WatchSignal.Lost lost) {
            if (!acquiring(s -> s.lost(now))) {
                holding(s -> s.lose(lost.reason()));
            }
        } else if (!acquiring(s -> signal instanceof WatchSignal.Armed ? s.armed(now) : s.changed(now))) {
            holding(s -> s.verify(now));
        }
    }

    @Override
    public void signalsStopped() {
        long now = now();
        if (!acquiring(s -> s.disarmed(now))) {
            holding(s -> s.verify(now));
        }
    }

    // ---- Acquiring

    private void act(AcquireState.Step step) {
        AcquireAction action = step.action();
        AcquireState acquired = step.state();
        if (action instanceof AcquireAction.Attempt attempt) {
            send(attempt.attempt());
        } else if (action instanceof AcquireAction.Deliver) {
            deliver();
        } else if (action instanceof AcquireAction.NotAvailable) {
            ended();
            if (engine().events.areWanted()) {
                acquireEvents.ended(new LockEvent.NotAvailable(lockName(), waited()), engine().events);
            }
            emission.complete();
        } else if (action instanceof AcquireAction.TimedOut over) {
            finish(acquired, timeoutError(acquired), over.withdraw());
        } else if (action instanceof AcquireAction.Closed closed) {
            finish(acquired, engine().closedException(lockName()), closed.withdraw());
        } else if (action instanceof AcquireAction.Refused refused) {
            finish(acquired, refused.error(), false);
        } else if (action instanceof AcquireAction.Failed failed) {
            finish(acquired, failed.error(), true);
        } else if (action instanceof AcquireAction.GrantedTooLate) {
            finish(acquired, grantedTooLate(), true);
        } else if (action instanceof AcquireAction.Withdraw) {
            try {
                withdraw();
            } finally {
                ended();
            }
        } else if (acquired.phase() == Phase.ENDED) {
            if (isKeptWhenItLeaves()) {
                engine().keptClaims.remove(claim().id()); // it does not hold the lock, so there is nothing to keep
            }
            ended();
        }
    }

    /**
     * Sends one attempt after the other. A back end may answer within the sending, and the next attempt then must not
     * need more of the stack.
     */
    private void send(int number) {
        attemptToSend = number;
        if (SENDS.getAndIncrement(this) != 0) {
            return; // the thread that is sending sends it
        }
        do {
            int sending = attemptToSend;
            BackendCall.start(engine(), lockName(), operationNanos(), emission.context(), new Attempt(sending), now());
            sentAttempt = sending;
        } while (SENDS.decrementAndGet(this) != 0);
    }

    private final class Attempt implements BackendCall.Request<LockAttempt> {

        private final int number;

        Attempt(int number) {
            this.number = number;
        }

        @Override
        public String what() {
            return "attempt " + number;
        }

        @Override
        public Mono<LockAttempt> ask() {
            return adoption != null ? adoption.ask(claim()) : engine().backend.tryAcquire(claim().withAttempt(number));
        }

        @Override
        public void answered(LockAttempt answer) {
            acquiring(s -> s.answered(number, answer, now(), engine().random()));
        }

        @Override
        public void failed(LockBackendException error) {
            try {
                report(new LockEvent.AttemptFailed(lockName(), number, error));
            } finally {
                acquiring(s -> s.attemptFailed(number, error, now(), engine().random()));
            }
        }

        @Override
        public void refused(LockQueueFullException error) {
            acquiring(s -> s.refused(number, error));
        }
    }

    private void deliver() {
        LeaseHandle lease = new LeaseHandle(this, grantedSignals, false);
        if (watch == null) {
            ClaimWatch started = ClaimWatch.start(engine().backend, claimOf(lease()), this);
            watch = started;
            boolean unused = started.armedSoFar();
        }
        if (lease().isOver()) {
            stopWatching(); // the lease ended before the watch was set
        }
        handle = new WeakReference<>(lease); // from now on the lease is the subscriber's, or garbage
        engine().delivery.run(() -> emit(lease), rejected -> {
            release(false);
            leaveAdmission();
            RuntimeException refusal = engine().delivery.refusal(lockName(), rejected);
            acquireEvents.ended(
                    new LockEvent.AcquireFailed(lockName(), waited(), attempts(), refusal), engine().events);
            emission.failNow(refusal);
            emissionOver();
        });
    }

    private void emit(LeaseHandle lease) {
        if (!lease.isValid() || engine().refuses(this)) {
            missed();
        } else if (emission.begin()) {
            leaveAdmission();
            if (engine().events.areWanted()) {
                report(new LockEvent.Acquired(lockName(), lease.fencingToken(), waited(), attempts()));
            }
            holdEvents.begun(engine().events);
            if (!isMember) {
                handedOut = true;
            }
            emissionOver();
            emission.emit(lease);
        } else {
            release(false);
            leaveAdmission();
            reportCancelled(); // its own cancellation may never arrive
            emissionOver();
        }
    }

    private void emissionOver() {
        emissionOver = true;
        if (leaseOver) {
            engine().ended(this);
        }
    }

    /**
     * The lease ended before it was handed out: another claim begins in its place, as if the lock had not been granted.
     * Or the client closes or drains, and the acquisition fails.
     */
    private void missed() {
        release(false);
        if (emission.isOver()) {
            leaveAdmission();
        } else if (engine().refuses(this)) {
            fail(engine().closedException(lockName()));
        } else if (adoption != null) {
            fail(adoption.lost(LossReason.EXPIRED, "it ended before it could be handed out here"));
        } else {
            Claim again = new Claim(lock, plan, null, isMember, emission, acquireEvents, first, attempts());
            again.admitted = ADMITTED.getAndSet(this, 0);
            again.startedAtNanos = startedAtNanos;
            first.latest = again; // before its state, which tells it of a cancellation
            // By the timer: a back end whose grants are over at once must not use up the stack.
            engine().alarms.set(Alarm.atTheLatestAtClose(() -> again.start(false)), now());
        }
        emissionOver();
    }

    private void finish(AcquireState decided, LockException error, boolean withdraw) {
        if (!withdraw) {
            fail(error);
            if (decided.phase() == Phase.ENDED) {
                ended();
            }
            return;
        }
        try {
            // First: the error may make another thread release the lock, and this claim must not get it.
            withdraw();
        } finally {
            fail(error);
            ended();
        }
    }

    private void fail(LockException error) {
        leaveAdmission();
        if (emission.isOpen()) {
            acquireEvents.ended(new LockEvent.AcquireFailed(lockName(), waited(), attempts(), error), engine().events);
        }
        emission.fail(error);
    }

    /** Ends the claim after a defect of a back end, of this library, or of a subscriber. */
    private void broken(Throwable defect) {
        Fallible.log(defect, LOG, "an event of a claim could not be handled");
        try {
            fail(new LockBackendException(
                    lockName(),
                    "acquisition of lock '%s' met something unexpected in an answer of back end %s, or in this library: %s"
                            .formatted(lockName(), engine().backend.name(), defect),
                    false,
                    defect));
        } finally {
            endBroken();
        }
    }

    private void endBroken() {
        while (state instanceof AcquireState seen && seen.phase() != Phase.ENDED) {
            if (STATE.compareAndSet(this, seen, seen.broken())) {
                boolean isUnsent = seen.phase() == Phase.READY && adoption == null;
                try {
                    if (isUnsent) {
                        stopWatching();
                    } else {
                        withdraw();
                    }
                } finally {
                    ended();
                }
            }
        }
        if (state instanceof LeaseState && handle == null) {
            release(false); // not handed out
            emissionOver();
        } else if (state == null) {
            leaveAdmission(); // it is not known to its client
        }
    }

    private void withdraw() {
        engine().alarms.off(alarm);
        if (adoption != null && attempts() == 0 && engine().refuses(this)) {
            engine().keptClaims.remove(claim().id());
            return; // it has sent nothing, and another client may adopt it
        }
        LockClaim last = claim().withAttempt(state instanceof AcquireState s ? attemptOf(s) : claim().attempt());
        Withdrawal withdrawal = new Withdrawal(lock, watch);
        if (isKeptWhenItLeaves()) {
            long kept = startedAtNanos + lock.terms().minHoldNanos();
            ReleaseLoop.start(lock, last, kept, Validity.later(lock.storeForgetsAtNanos(), kept), withdrawal);
        } else {
            ReleaseLoop.start(lock, last, lock.storeForgetsAtNanos(), withdrawal);
        }
    }

    /** An adopted claim keeps the number of its exporter's last attempt: the release carries it. */
    private int attemptOf(AcquireState s) {
        return adoption != null ? claim().attempt() : Math.max(1, s.attempt());
    }

    /** Returns whether work may have begun under the claim, since the exporter had its lease. */
    private boolean isKeptWhenItLeaves() {
        return adoption != null && lock.terms().minHoldNanos() > 0;
    }

    private LockBackendException grantedTooLate() {
        return new LockBackendException(
                lockName(),
                "back end %s granted lock '%s' %d times, each time for less than its answer took; is the lease long enough?"
                        .formatted(engine().backend.name(), lockName(), attempts()),
                true,
                null);
    }

    private LockTimeoutException timeoutError(AcquireState last) {
        return new LockTimeoutException(lockName(), waited(), attempts(), last.isAnswered(), last.lastFailure());
    }

    private Duration waited() {
        return Duration.ofNanos(now() - startedAtNanos);
    }

    private int attempts() {
        ClaimState current = state;
        if (current instanceof AcquireState s) {
            return attemptsBefore + s.attempt();
        }
        if (current instanceof LeaseState s) {
            return attemptsBefore + (adoption != null ? 1 : s.hold().attempt());
        }
        return attemptsBefore;
    }

    /** Ends a claim without a subscriber: it reports only a failure. */
    private record Withdrawal(LockSettings lock, @Nullable ClaimWatch watch) implements ReleaseLoop.Result {

        @Override
        public void released(Ownership ownership, boolean unknownBefore) {
            stopWatching();
        }

        @Override
        public void takesLong() {}

        @Override
        public void unconfirmed(LockBackendException lastFailure) {
            stopWatching();
            LockEvent event = new LockEvent.WithdrawalUnconfirmed(lock.key().name(), lastFailure);
            if (lastFailure.isTransient()) {
                lock.engine().events.report(event);
            } else {
                // For example a wrong password: the attempts were refused too, and have reported it.
                lock.engine().events.reportWithoutWarning(event);
            }
        }

        /** Stops the watch only now: a grant that is pushed meanwhile needs no release of its own. */
        private void stopWatching() {
            if (watch != null) {
                watch.dispose();
            }
        }
    }

    // ---- Holding: what the lease asks. The side tells a lease from the read lease that follows it.

    LockSettings lock() {
        return lock;
    }

    LockKey key(boolean asReader) {
        return asReader ? LockKey.of(LockKind.READ, lockName()) : lock.key();
    }

    /**
     * After it has returned false, it never returns true again. To see the deadline passed decides the loss, and a
     * later answer does not count any more.
     */
    boolean isValid(boolean asReader) {
        LeaseState current = lease();
        long now = now();
        if (current.isReader() == asReader && current.isValid(now)) {
            return true;
        }
        if (current.phase() == LeaseState.Phase.HELD) {
            // The timer signals the loss: the caller of this method does not expect to run the handlers of the loss.
            LeaseAction action = decided(s -> s.tick(now));
            if (action != null) {
                actSoon(action);
            }
        }
        LeaseState decided = lease();
        return decided.isReader() == asReader && decided.isValid(now);
    }

    Duration remaining(boolean asReader) {
        return isValid(asReader) ? Duration.ofNanos(Math.max(0, lease().validUntilNanos() - now())) : Duration.ZERO;
    }

    long fencingToken() {
        return lease().hold().fencingToken();
    }

    Duration heldFor() {
        return Duration.ofNanos(now() - lease().hold().grantedAtNanos());
    }

    /**
     * Returns whether the holder has ended the lease in any way: no lease is nested in it any more, and there is no
     * loss to report.
     */
    boolean isReleased(boolean asReader) {
        LeaseState current = lease();
        return current.isReader() != asReader
                || switch (current.phase()) {
                    case RELEASED, RELEASING, EXPORTING, EXPORTED, STOPPING, DOWNGRADING -> true;
                    case HELD, LOST -> false;
                };
    }

    LockLostException lost(boolean asReader) {
        return loss(asReader).exception(lockName(), fencingToken());
    }

    /** Returns the loss of a nested lease, when this lease is not valid any more. */
    Loss lossOfViews(boolean asReader) {
        return isReleased(asReader) ? Loss.outermostReleased() : loss(asReader);
    }

    private Loss loss(boolean asReader) {
        LeaseState current = lease();
        LossReason reason = current.lossReason();
        if (current.isReader() != asReader
                || current.phase() == LeaseState.Phase.STOPPING
                || current.phase() == LeaseState.Phase.DOWNGRADING) {
            return Loss.downgraded();
        }
        if (current.phase() == LeaseState.Phase.EXPORTING || current.phase() == LeaseState.Phase.EXPORTED) {
            return Loss.handedOn();
        }
        if (current.expiredOnItsWayToReader()) {
            return Loss.notDowngraded(lastRenewalFailure);
        }
        return reason == null ? Loss.released() : Loss.of(current, reason, lock.options(), lastRenewalFailure);
    }

    /** Called right before the holder gets the lease: from now on a least hold time counts. */
    void handedOut() {
        handedOut = true;
    }

    void release(boolean asReader) {
        long now = now();
        holding(s -> s.isReader() == asReader ? s.releaseAsked(now) : s.stay());
    }

    /** Releases a lease under which no work has begun: the minimum does not apply. */
    void releaseUnused(boolean asReader) {
        handedOut = false;
        release(asReader);
    }

    /** Returns false when the lease has, or had, another successor. The export gets the result. */
    boolean export(boolean asReader, LeaseExport wanted) {
        return succeedBy(asReader, wanted, LeaseState::exportAsked);
    }

    /** Returns false when the lease has, or had, another successor. The downgrade gets the result. */
    boolean downgrade(LeaseDowngrade wanted) {
        return succeedBy(false, wanted, LeaseState::downgradeAsked);
    }

    private boolean succeedBy(boolean asReader, Successor wanted, BiFunction<LeaseState, Long, LeaseState.Step> asked) {
        // A downgrade is over when there is a reader, which may have a successor of its own.
        Successor before = asReader && successor instanceof LeaseDowngrade done ? done : null;
        if (lease().isReader() != asReader || !SUCCESSOR.compareAndSet(this, before, wanted)) {
            return false;
        }
        long now = now();
        holding(s -> asked.apply(s, now));
        LeaseState.Phase phase = lease().phase();
        if (phase == LeaseState.Phase.LOST
                || phase == LeaseState.Phase.RELEASING
                || phase == LeaseState.Phase.RELEASED) {
            wanted.failed(lost(asReader)); // the lease had ended before
        }
        return true;
    }

    void exportCancelled() {
        holding(LeaseState::exportCancelled);
    }

    void downgradeCancelled() {
        holding(LeaseState::downgradeCancelled);
    }

    /** Releases the claim: no process will get the text. */
    void releaseHandedOn() {
        endAtStore(lock.storeForgetsAtNanos(), new ReleaseInBackground());
    }

    // ---- Holding: what it does

    private void actSoon(LeaseAction action) {
        engine().alarms.set(Alarm.atTheLatestAtClose(() -> act(action)), now());
    }

    private void act(LeaseAction action) {
        switch (action) {
            case NONE, GO_ON_AS_READER -> {} // the answer has the read lease
            case STOP_RENEWING -> signals().releaseAsked(); // nested work must not go on
            case RENEW_BEFORE_EXPORT -> {
                try {
                    signals().releaseAsked();
                } finally {
                    engine().renewals.add(this);
                    engine().renewals.flush();
                }
            }
            case EXPORT -> Turn.runUsersCode(this::exported);
            case ASK_FOR_READ_LEASE -> askForReadLease();
            case RENEW -> engine().renewals.add(this);
            case RELEASE -> {
                releasedAtNanos = now();
                try {
                    // before the release: nested work must not go on when the next owner gets the lock
                    signals().releaseAsked();
                } finally {
                    endAtStore(lease().validUntilNanos(), this);
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

    private void signalLoss(Runnable then) {
        LeaseState lost = lease();
        LossReason reason = lost.lossReason();
        if (reason != null) {
            String why = loss(lost.isReader()).why();
            boolean unused = reportEnd(new LockEvent.Lost(lockName(), fencingToken(), reason, heldFor(), why));
        }
        end(then);
    }

    private void end(Runnable then) {
        stopWatching();
        LeaseState over = lease();
        LockLostException lost = over.lossReason() == null ? null : lost(over.isReader());
        try {
            signals().end(lost);
        } finally {
            then.run();
            Successor wanted = successor;
            if (wanted != null && lost != null) {
                wanted.failed(lost);
            }
            // last: a caller that waits for the end of all leases then finds the release begun
            leaseOver = true;
            if (emissionOver) {
                engine().ended(this);
            }
        }
    }

    private void stopWatching() {
        ClaimWatch current = watch;
        if (current != null) {
            current.dispose();
        }
    }

    private void endAtStore(long untilNanos, ReleaseLoop.Result result) {
        LockClaim last = claimOf(lease());
        if (handedOut && lock.terms().minHoldNanos() > 0) {
            ReleaseLoop.start(lock, last, keptUntilNanos(), Validity.later(untilNanos, keptUntilNanos()), result);
        } else {
            ReleaseLoop.start(lock, last, untilNanos, result);
        }
    }

    /** Returns until when the server keeps a lease that was handed out. */
    private long keptUntilNanos() {
        return lease().hold().grantedAtNanos() + lock.terms().minHoldNanos();
    }

    /** Returns the claim with its present side, and with the number of the last request that may take the lock. */
    private LockClaim claimOf(LeaseState s) {
        LeaseState.Hold hold = s.hold();
        return hold.side() == Side.AS_GRANTED
                ? claim().withAttempt(hold.attempt())
                : new LockClaim(key(true), claim().id(), claim().lease(), Waiting.NONE, hold.attempt(), 0, 1);
    }

    @Override
    public void released(Ownership ownership, boolean unknownBefore) {
        LeaseAction action = decided(s -> s.releaseAnswered(ownership, unknownBefore));
        // In this order: a caller that gets the end of the lease, or of the client, then finds the release counted.
        if (action == LeaseAction.SIGNAL_RELEASED && engine().events.areWanted()) {
            boolean unused = reportEnd(new LockEvent.Released(lockName(), fencingToken(), heldUntilReleased()));
        }
        if (action != null) {
            act(action);
        }
    }

    @Override
    public void takesLong() {
        Turn.runUsersCode(signals()::releaseTakesLong);
    }

    @Override
    public void unconfirmed(LockBackendException lastFailure) {
        if (!reportEnd(
                new LockEvent.ReleaseUnconfirmed(lockName(), fencingToken(), heldUntilReleased(), lastFailure))) {
            report(new LockEvent.WithdrawalUnconfirmed(lockName(), lastFailure));
        }
        holding(LeaseState::releaseGivenUp);
    }

    private boolean reportEnd(LockEvent end) {
        return holdEvents.ended(end, engine().events);
    }

    private Duration heldUntilReleased() {
        return Duration.ofNanos(releasedAtNanos - lease().hold().grantedAtNanos());
    }

    /** Releases after the end was reported. After a loss, it reports a failure only if the client was closing. */
    private final class ReleaseInBackground implements ReleaseLoop.Result {

        @Override
        public void released(Ownership ownership, boolean unknownBefore) {}

        @Override
        public void takesLong() {}

        @Override
        public void unconfirmed(LockBackendException lastFailure) {
            LossReason reason = lease().lossReason();
            if (reason == null || reason == LossReason.CLIENT_CLOSED) {
                report(new LockEvent.WithdrawalUnconfirmed(lockName(), lastFailure));
            }
        }
    }

    // ---- Renewal

    @Override
    public String lockName() {
        return lock.key().name();
    }

    @Override
    public long operationNanos() {
        return lock.operationNanos();
    }

    /** Carries the usual lease duration, or the rest of the minimum. */
    @Override
    public LockClaim renewal() {
        LockTerms terms = lock.terms();
        LockClaim current = claimOf(lease());
        return terms.minHoldNanos() == 0
                ? current
                : current.withLease(MinHold.lease(
                        lock.options().leaseDuration(), keptUntilNanos() - now(), terms.operationNanos()));
    }

    @Override
    public int renewalFailures() {
        return lease().failures();
    }

    @Override
    public boolean isHeld() {
        return state instanceof LeaseState s && s.phase() == LeaseState.Phase.HELD;
    }

    @Override
    public boolean isToBeRenewed() {
        return isHeld() || lease().phase() == LeaseState.Phase.EXPORTING;
    }

    @Override
    public void renewalNotSent() {
        long now = now();
        holding(s -> s.renewalFailed(true, now));
    }

    @Override
    public void renewalAnswered(long sentAtNanos, Renewal answer) {
        if (answer instanceof Renewal.Unknown unknown) {
            renewalFailed(unknown.failure());
        } else {
            renewed(sentAtNanos, answer, true, s -> true);
        }
    }

    /** Handles the result of a renewal by the user of that lease. */
    void renewedByHand(boolean asReader, long sentAtNanos, Renewal answer) {
        renewed(sentAtNanos, answer, false, s -> s.isReader() == asReader);
    }

    private void renewed(long sentAtNanos, Renewal answer, boolean automatic, Predicate<LeaseState> isMeant) {
        long now = now();
        if (answer instanceof Renewal.Held held) {
            long leaseNanos = StoreDurations.leaseNanos(held.lease());
            lastRenewalFailure = null;
            holding(s -> isMeant.test(s) ? s.renewed(sentAtNanos, leaseNanos, automatic, now) : s.stay());
        } else if (answer instanceof Renewal.NotHeld) {
            holding(s -> isMeant.test(s) ? s.renewalDenied() : s.stay());
        }
    }

    @Override
    public void renewalFailed(LockBackendException error) {
        long now = now();
        lastRenewalFailure = error;
        holding(s -> s.renewalFailed(true, now));
        if (isHeld() && engine().events.areWanted()) {
            LeaseState held = lease();
            report(new LockEvent.RenewalFailed(lockName(), fencingToken(), remaining(held.isReader()), error));
        }
    }

    // ---- Export and downgrade

    /** Emits the text last: another process may hold the lock from then on. */
    private void exported() {
        long left = lock.terms().minHoldNanos() == 0 ? 0 : Math.max(0, keptUntilNanos() - now());
        boolean unused = reportEnd(new LockEvent.HandedOn(lockName(), fencingToken(), heldFor()));
        try {
            end(() -> {});
        } finally {
            if (successor instanceof LeaseExport wanted) {
                wanted.succeeded(() -> handedOn(left));
            }
        }
    }

    /**
     * Returns the lease as the adopter gets it. Its attempt has the next number: so the adopter's release leaves a
     * tombstone for late attempts of this client.
     */
    private ExportedLease handedOn(long minHoldNanos) {
        LockClaim last = claimOf(lease());
        LockClaim usual = last.withLease(lock.options().leaseDuration()).withAttempt(last.attempt() + 1);
        return new ExportedLease(usual, fencingToken(), minHoldNanos);
    }

    private void askForReadLease() {
        LockClaim attempt = claimOf(lease()).withLease(renewal().lease());
        Context context = successor instanceof LeaseDowngrade wanted ? wanted.context() : Context.empty();
        long now = now();
        BackendCall.start(engine(), lockName(), operationNanos(), context, new ReadRequest(attempt, now), now);
    }

    /**
     * An attempt that turns the writer into a reader. The claim may be released before the attempt ends, and the
     * sending thread may have slept until after the release. So a lock that the attempt gets then is released once
     * more.
     */
    private final class ReadRequest implements BackendCall.Request<LockAttempt> {

        private final LockClaim attempt;
        private final long sentAtNanos;

        ReadRequest(LockClaim attempt, long sentAtNanos) {
            this.attempt = attempt;
            this.sentAtNanos = sentAtNanos;
        }

        private boolean isLate() {
            return lease().phase() != LeaseState.Phase.DOWNGRADING;
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
            if (!(answer instanceof LockAttempt.Acquired acquired)) {
                denied();
            } else if (acquired.fencingToken() != fencingToken()) {
                denied(); // a new grant: another client may have held the lock in between
                ReleaseLoop.start(lock, attempt, lock.storeForgetsAtNanos(), new ReleaseInBackground());
            } else if (isLate()) {
                endAtStore(lock.storeForgetsAtNanos(), new ReleaseInBackground());
            } else {
                downgraded(sentAtNanos, StoreDurations.leaseNanos(acquired.lease()));
            }
        }

        private void denied() {
            if (!isLate()) {
                holding(LeaseState::renewalDenied);
            }
        }

        @Override
        public void failed(LockBackendException error) {
            if (isLate()) {
                endAtStore(lock.storeForgetsAtNanos(), new ReleaseInBackground());
                return;
            }
            long now = now();
            lastRenewalFailure = error;
            report(new LockEvent.AttemptFailed(lockName(), attempt.attempt(), error));
            holding(s -> s.downgradeFailed(now));
        }
    }

    /** The claim goes on as a reader, without an event: the writer's lease ends, and the read lease is emitted. */
    private void downgraded(long sentAtNanos, long leaseNanos) {
        LeaseSignals mine = new LeaseSignals(engine().delivery);
        LeaseHandle reader = new LeaseHandle(this, mine, true);
        readerSignals = mine;
        handle = new WeakReference<>(reader);
        long now = now();
        LeaseAction action = decided(s -> s.downgraded(sentAtNanos, leaseNanos, now));
        if (action == LeaseAction.GO_ON_AS_READER) {
            Turn.runUsersCode(() -> goOn(reader));
        } else if (action != null) {
            act(action);
        }
    }

    private void goOn(LeaseHandle reader) {
        try {
            grantedSignals.end(null);
        } finally {
            if (successor instanceof LeaseDowngrade wanted) {
                wanted.succeeded(reader);
            }
        }
    }

    private LeaseSignals signals() {
        LeaseSignals ofReader = readerSignals;
        return ofReader != null && lease().isReader() ? ofReader : grantedSignals;
    }

    // ---- Parts

    private void report(LockEvent event) {
        engine().events.report(event);
    }

    private long now() {
        return engine().alarms.now();
    }

    private Engine engine() {
        return lock.engine();
    }

    private LockClaim claim() {
        return begun(claim);
    }

    private ClaimState state() {
        return begun(state);
    }

    private LeaseState lease() {
        return (LeaseState) state();
    }

    private static <T> T begun(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("an event came before the claim began");
        }
        return part;
    }
}
