package io.holdfast.internal.claim;

import io.holdfast.ClientReport;
import io.holdfast.LockBackendException;
import io.holdfast.LockEvent;
import io.holdfast.LockException;
import io.holdfast.LockLease;
import io.holdfast.LockQueueFullException;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.holdfast.internal.claim.AcquireState.Phase;
import io.holdfast.internal.engine.AcquirePlan;
import io.holdfast.internal.engine.AcquirePlan.Mode;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.Members;
import io.holdfast.internal.engine.Members.Stage;
import io.holdfast.internal.run.AlarmClock.Alarm;
import io.holdfast.internal.run.Mailbox;
import io.holdfast.internal.run.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

// Longer than other files: every event of one subscription changes the same fields, within one mailbox.

/**
 * One subscription to {@code acquire} or {@code tryAcquire}: one claim, its attempts, and its withdrawal.
 *
 * <p>Its {@link Emission} decides how it ends: with a lease, or with a cancellation. The acquisition releases a lease
 * that was not emitted. A cancellation by the subscriber never cancels an attempt in flight, because only its answer
 * shows what to undo.
 */
public final class Acquisition extends Members.Member implements Subscription, ClaimWatch.Target, Mailbox.Owner {

    private static final AtomicIntegerFieldUpdater<Acquisition> ADMITTED =
            AtomicIntegerFieldUpdater.newUpdater(Acquisition.class, "admitted");

    private final LockSettings lock;
    private final AcquirePlan plan;

    /** The exported claim that it adopts; null for a new claim. */
    private final @Nullable Adoption adoption;

    /** Whether its lease is one of several, which are handed out together. */
    private final boolean isMember;

    private final Emission<LeaseHandle> emission;
    private final Mailbox mailbox = new Mailbox(this);

    // Written within the mailbox, except the first field, which is written before the first task. The emission reads
    // some of these fields on its own thread, for events.
    private long startedAtNanos;
    private boolean endDue;
    private boolean settled;

    private int attemptsBefore;
    private @Nullable LockClaim claim;
    private @Nullable AcquireState state;
    private @Nullable ClaimWatch watch;

    /** 1 while it counts towards the client's limit of waiters. It may end on any thread. */
    private volatile int admitted;

    // Both are made when they are first set; an acquisition that need not wait has none.
    private @Nullable Alarm pauseOver;
    private @Nullable Alarm timedOut;

    Acquisition(LockSettings lock, AcquirePlan plan, boolean isMember, CoreSubscriber<? super LockLease> subscriber) {
        this(lock, plan, null, isMember, subscriber);
    }

    Acquisition(LockSettings lock, AcquirePlan plan, Adoption adoption, CoreSubscriber<? super LockLease> subscriber) {
        this(lock, plan, adoption, false, subscriber);
    }

    private Acquisition(
            LockSettings lock,
            AcquirePlan plan,
            @Nullable Adoption adoption,
            boolean isMember,
            CoreSubscriber<? super LockLease> subscriber) {
        this.lock = lock;
        this.plan = plan;
        this.adoption = adoption;
        this.isMember = isMember;
        emission = new Emission<>(subscriber, lock.engine().delivery);
    }

    @Override
    public void request(long n) {
        if (!Operators.validate(n) || !emission.isIdle()) {
            return;
        }
        startedAtNanos = now();
        if (emission.open()) {
            engine().open(this);
            post(this::start);
        }
    }

    @Override
    public void cancel() {
        emission.leave(() -> post(this::left));
    }

    @Override
    public Stage stage() {
        return Stage.ACQUIRING;
    }

    @Override
    public boolean isPartOfWork() {
        return HeldLocks.isWork(engine(), emission.context());
    }

    @Override
    public void close() {
        post(() -> {
            if (state != null) {
                step(state().closed());
            }
        });
    }

    @Override
    public void signalled(ClaimWatch from, WatchSignal signal) {
        post(() -> {
            if (!equals(from.target())) {
                from.target().signalled(from, signal); // it was on its way when the lease took over
            } else if (signal instanceof WatchSignal.Granted granted) {
                step(state().granted(granted, now()));
            } else if (signal instanceof WatchSignal.Armed) {
                step(state().armed(now()));
            } else if (signal instanceof WatchSignal.Lost) {
                step(state().lost(now()));
            } else {
                step(state().changed(now()));
            }
        });
    }

    @Override
    public void signalsStopped(ClaimWatch from) {
        post(() -> {
            if (equals(from.target())) {
                step(state().disarmed(now()));
            } else {
                from.target().signalsStopped(from);
            }
        });
    }

    private void start() {
        if (!emission.isOver()) {
            endDue = true;
            if (engine().events.areWanted()) {
                report(new LockEvent.AcquireStarted(lockName()));
            }
        }
        begin();
    }

    private void begin() {
        if (emission.isOver()) {
            leftBeforeTheFirstRequest();
        } else if (engine().refuses(this)) {
            end(engine().closedException(lockName()));
            ended();
        } else if (!isAdmitted()) {
            end(engine().admission.refusal(lockName()));
            ended();
        } else {
            if (plan.mode() == Mode.WAIT) {
                lock.options().waitTimeout().ifPresent(this::limitWait);
            }
            startClaim();
        }
    }

    /** A new claim has sent nothing. An adopted claim holds the lock. */
    private void leftBeforeTheFirstRequest() {
        if (adoption == null || engine().refuses(this)) {
            ended();
        } else {
            claim = adoption.claim();
            withdraw();
        }
    }

    private void limitWait(Duration limit) {
        Alarm over = Alarm.of(() -> post(() -> step(state().timedOut())));
        timedOut = over;
        engine().alarms.set(over, startedAtNanos + limit.toNanos());
    }

    private void pause(long untilNanos) {
        Alarm over = pauseOver != null ? pauseOver : Alarm.of(() -> post(() -> step(state().pauseOver(now()))));
        pauseOver = over;
        engine().alarms.set(over, untilNanos);
    }

    @Override
    public ClientReport.Wait waiting() {
        return new ClientReport.Wait(lockName(), lock.key().kind(), lock.permits(), waited());
    }

    /**
     * Counts once: an acquisition that begins again with another claim keeps its place. An acquisition that does not
     * wait needs no place.
     */
    private boolean isAdmitted() {
        if (plan.mode() != Mode.WAIT || admitted == 1) {
            return true;
        }
        boolean isAdmitted = engine().admission.enter();
        admitted = isAdmitted ? 1 : 0;
        return isAdmitted;
    }

    private void ended() {
        if (engine().ended(this)) {
            leaveAdmission();
        }
    }

    /** Leaves once. Called before the error, since the subscriber may begin another acquisition when it gets it. */
    public void leaveAdmission() {
        if (ADMITTED.compareAndSet(this, 1, 0)) {
            engine().admission.leave();
        }
    }

    private void startClaim() {
        settled = false;
        LockClaim first = adoption != null ? adoption.claim() : lock.newClaim(plan.mode());
        claim = first;
        boolean armed = false;
        if (plan.mode() == Mode.WAIT) {
            ClaimWatch started = ClaimWatch.start(engine().backend, first, this);
            watch = started;
            armed = started.armedSoFar();
        }
        step(AcquireState.start(plan, armed, now()));
    }

    private void step(AcquireState.Step step) {
        state = step.state();
        act(step.action());
    }

    private void act(AcquireAction action) {
        if (action instanceof AcquireAction.Attempt next) {
            attempt(next.attempt());
        } else if (action instanceof AcquireAction.Pause pause) {
            pause(pause.untilNanos());
        } else if (action instanceof AcquireAction.Deliver deliver) {
            deliver(deliver.grant());
        } else if (action instanceof AcquireAction.NotAvailable) {
            notAvailable();
        } else if (action instanceof AcquireAction.TimedOut over) {
            finish(timeoutError(), over.withdraw());
        } else if (action instanceof AcquireAction.Closed closed) {
            finish(engine().closedException(lockName()), closed.withdraw());
        } else if (action instanceof AcquireAction.Failed failed) {
            finish(failed.error(), true);
        } else if (action instanceof AcquireAction.GrantedTooLate) {
            finish(grantedTooLate(), true);
        } else if (action instanceof AcquireAction.Withdraw) {
            withdraw();
        } else if (state().phase() == Phase.ENDED && watch == null) {
            if (isKeptWhenItLeaves() && !settled) {
                settled = true;
                engine().keptClaims.remove(claim().id()); // it does not hold the lock, so there is nothing to keep
            }
            ended();
        }
    }

    private void attempt(int number) {
        engine().alarms.off(pauseOver);
        BackendCall.start(
                engine(),
                lockName(),
                lock.operationNanos(),
                emission.context(),
                new Attempt(number, claim(number)),
                state().sentAtNanos());
    }

    /** Posts the result to the acquisition, unless the claim was given up meanwhile. */
    private final class Attempt implements BackendCall.Request<LockAttempt> {

        /** The number within this acquisition; an adopted claim has the number of its exporter's last attempt. */
        private final int attempt;

        private final LockClaim claim;

        Attempt(int attempt, LockClaim claim) {
            this.attempt = attempt;
            this.claim = claim;
        }

        @Override
        public String what() {
            return "attempt " + attempt;
        }

        @Override
        public Mono<LockAttempt> ask() {
            return adoption != null ? adoption.ask(claim) : engine().backend.tryAcquire(claim);
        }

        @Override
        public void answered(LockAttempt answer) {
            post(() -> {
                if (claim.id().equals(claim().id())) {
                    step(state().answered(attempt, answer, now(), engine().random()));
                }
            });
        }

        @Override
        public void failed(LockBackendException error) {
            post(() -> {
                if (claim.id().equals(claim().id())) {
                    report(new LockEvent.AttemptFailed(lockName(), attempt, error));
                    step(state().attemptFailed(attempt, error, now(), engine().random()));
                }
            });
        }

        @Override
        public void refused(LockQueueFullException error) {
            post(() -> {
                if (claim.id().equals(claim().id())) {
                    step(state().refused(attempt, error));
                }
            });
        }
    }

    private void deliver(Grant grant) {
        alarmsOff();
        LeaseHandle lease = HeldLease.open(lock, claim(state().attempt()), grant, adoption != null, watch);
        settled = true;
        // Does not use the mailbox, which may be busy on another thread.
        engine().delivery.run(() -> emit(lease), rejected -> {
            lease.held().release();
            RuntimeException refusal = engine().delivery.refusal(lockName(), rejected);
            reportEnd(new LockEvent.AcquireFailed(lockName(), waited(), attempts(), refusal));
            emission.failNow(refusal);
            ended();
        });
    }

    private void emit(LeaseHandle lease) {
        if (!lease.isValid() || engine().refuses(this)) {
            post(() -> missed(lease));
        } else if (emission.begin()) {
            ended();
            if (engine().events.areWanted()) {
                report(new LockEvent.Acquired(lockName(), lease.fencingToken(), waited(), attempts()));
            }
            lease.held().begun();
            if (!isMember) {
                lease.held().handedOut();
            }
            emission.emit(lease);
        } else {
            lease.held().release();
            ended();
            post(this::reportCancelled); // The task of its own cancellation may never arrive.
        }
    }

    /**
     * The lease ended before it was handed out: begins again with another claim, as if the lock had not been granted.
     * Or the client closes or drains, and the acquisition fails.
     */
    private void missed(LeaseHandle lease) {
        lease.held().release();
        if (emission.isOver()) {
            ended();
        } else if (engine().refuses(this)) {
            end(engine().closedException(lockName()));
            ended();
        } else if (adoption != null) {
            end(adoption.lost(
                    LossReason.EXPIRED, "it ended before it could be handed out here")); // Its claim is being released.
            ended();
        } else {
            attemptsBefore = attempts();
            watch = null;
            begin();
        }
    }

    private void notAvailable() {
        settled = true;
        ended();
        if (engine().events.areWanted()) {
            reportEnd(new LockEvent.NotAvailable(lockName(), waited()));
        }
        emission.complete();
    }

    private void finish(LockException error, boolean withdraw) {
        if (!withdraw) {
            leaveAdmission();
            end(error);
            if (state().phase() == Phase.ENDED) {
                settled = true;
                alarmsOff();
                ended();
            }
            return;
        }
        try {
            // First: the error may make another thread release the lock, and this claim must not get it.
            sendWithdrawal();
        } finally {
            leaveAdmission();
            end(error);
            ended();
        }
    }

    /**
     * Handles a defect, or an unreadable answer: fails the subscriber, and withdraws the claim if nothing else ends it.
     */
    @Override
    public void broken(Throwable defect) {
        try {
            leaveAdmission();
            end(new LockBackendException(
                    lockName(),
                    "acquisition of lock '%s' met something unexpected in an answer of back end %s, or in this library: %s"
                            .formatted(lockName(), engine().backend.name(), defect),
                    false,
                    defect));
        } finally {
            if (claim != null && state != null && !settled) {
                state = state().broken();
                withdraw();
            } else {
                // Also if the claim is settled: the subscriber may have thrown before this acquisition left the list.
                alarmsOff();
                ended();
            }
        }
    }

    private void left() {
        reportCancelled();
        AcquireState current = state;
        if (current != null) {
            if (isKeptWhenItLeaves() && current.phase() != Phase.ENDED) {
                // Before the answer: the text may be adopted again at once.
                engine().keptClaims.add(claim().id());
            }
            step(current.left());
        }
    }

    private void withdraw() {
        sendWithdrawal();
        ended();
    }

    private void sendWithdrawal() {
        settled = true;
        alarmsOff();
        Withdrawal withdrawal = new Withdrawal(lock, watch);
        LockClaim last = adoption != null ? claim() : claim(state().attempt());
        if (isKeptWhenItLeaves()) {
            long kept = startedAtNanos + lock.terms().minHoldNanos();
            ReleaseLoop.start(lock, last, kept, Validity.later(lock.storeForgetsAtNanos(), kept), withdrawal);
        } else {
            ReleaseLoop.start(lock, last, lock.storeForgetsAtNanos(), withdrawal);
        }
    }

    /** Returns whether work may have begun under the claim, since the exporter had its lease. */
    private boolean isKeptWhenItLeaves() {
        return adoption != null && lock.terms().minHoldNanos() > 0;
    }

    private void end(LockException error) {
        engine().alarms.off(timedOut);
        if (emission.isOpen()) {
            reportEnd(new LockEvent.AcquireFailed(lockName(), waited(), attempts(), error));
        }
        emission.fail(error);
    }

    private void alarmsOff() {
        engine().alarms.off(pauseOver);
        engine().alarms.off(timedOut);
    }

    private LockBackendException grantedTooLate() {
        return new LockBackendException(
                lockName(),
                "back end %s granted lock '%s' %d times, each time for less than its answer took; is the lease long enough?"
                        .formatted(engine().backend.name(), lockName(), attempts()),
                true,
                null);
    }

    private LockTimeoutException timeoutError() {
        AcquireState last = state();
        return new LockTimeoutException(lockName(), waited(), attempts(), last.isAnswered(), last.lastFailure());
    }

    private Duration waited() {
        return Duration.ofNanos(now() - startedAtNanos);
    }

    private int attempts() {
        return attemptsBefore + (state == null ? 0 : state.attempt());
    }

    private void reportCancelled() {
        reportEnd(new LockEvent.AcquireCancelled(lockName(), waited(), attempts()));
    }

    /**
     * Reports the end once, and only if the start was reported: the subscriber may cancel while a listener handles the
     * start. Runs within the mailbox.
     */
    private void reportEnd(LockEvent end) {
        if (endDue) {
            endDue = false;
            report(end);
        }
    }

    private void report(LockEvent event) {
        engine().events.report(event);
    }

    private void post(Runnable task) {
        mailbox.post(task);
    }

    private long now() {
        return engine().alarms.now();
    }

    private Engine engine() {
        return lock.engine();
    }

    private String lockName() {
        return lock.key().name();
    }

    private LockClaim claim() {
        return begun(claim);
    }

    private LockClaim claim(int attempt) {
        return adoption != null || attempt == claim().attempt() ? claim() : claim().withAttempt(attempt);
    }

    private AcquireState state() {
        return begun(state);
    }

    private static <T> T begun(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("an event came before the acquisition began");
        }
        return part;
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
}
