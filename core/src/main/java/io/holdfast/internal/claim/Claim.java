package io.holdfast.internal.claim;

import static java.util.Objects.requireNonNull;

import io.holdfast.ClientReport;
import io.holdfast.LockBackendException;
import io.holdfast.LockEvent;
import io.holdfast.LockException;
import io.holdfast.LockLease;
import io.holdfast.LockQueueFullException;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.holdfast.internal.claim.AcquireState.Phase;
import io.holdfast.internal.claim.ClaimState.Step;
import io.holdfast.internal.engine.Activities.Stage;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Fallible;
import io.holdfast.spi.support.Printable;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * One claim, from the subscription to the release: sends its attempts and hands out its lease. {@link HeldClaim} is what
 * it does from then on.
 *
 * <p>Once an attempt is on its way, only its answer shows what to undo, so nothing cancels it; and a lease is not handed
 * out while another thread is about to send an attempt of its claim, which could arrive after the release.
 */
final class Claim extends HeldClaim implements Emission.Owner, ClaimWatch.Target {

    private static final Logger LOG = LoggerFactory.getLogger(Claim.class);

    private static final AtomicIntegerFieldUpdater<Claim> SENDS =
            AtomicIntegerFieldUpdater.newUpdater(Claim.class, "sends");

    private final Mode mode;

    private final @Nullable Adoption adoption;

    private final boolean isMember;

    final Emission<LockLease> emission;
    private final PairedEvents acquireEvents;

    private final int attemptsBefore;

    /** The number of the last attempt that has left this thread; an earlier number only delays a pushed grant. */
    private volatile int sentAttempt;

    /** Drain-loop counter (WIP) of the attempts. */
    @SuppressWarnings("unused") // only SENDS uses it
    private volatile int sends;

    private volatile int attemptToSend;

    Claim(
            LockSettings lock,
            Mode mode,
            @Nullable Adoption adoption,
            boolean isMember,
            CoreSubscriber<? super LockLease> subscriber) {
        super(lock, adoption != null);
        this.mode = mode;
        this.adoption = adoption;
        this.isMember = isMember;
        emission = new Emission<>(subscriber, lock.engine(), this);
        acquireEvents = new PairedEvents(lock.engine().events);
        attemptsBefore = 0;
    }

    /** Begins again in the place of a claim whose grant was over when it arrived. */
    private Claim(Claim before) {
        super(before.lock, false);
        mode = before.mode;
        adoption = null;
        isMember = before.isMember;
        emission = before.emission;
        acquireEvents = before.acquireEvents;
        attemptsBefore = before.attempts();
    }

    @Override
    public void begin() {
        start(true);
    }

    private void start(boolean isFirst) {
        try {
            open();
            if (isFirst) {
                if (engine().events.areWanted()) {
                    report(new LockEvent.AcquireStarted(subject()));
                }
                acquireEvents.begun();
            }
            sendFirst();
        } catch (Throwable defect) {
            broken(defect);
        }
    }

    private void open() {
        claim = adoption != null ? adoption.claim() : lock.newClaim(mode);
        engine().open(this); // before the state: a cancellation takes it off the list again
        state = AcquireState.ready(adoption != null ? claim().attempt() : 0);
        if (emission.isOver()) {
            left(); // the cancellation may have come before the state
        }
    }

    private void sendFirst() {
        if (engine().refuses(this)) {
            acquiring(AcquireState::closed);
        } else if (stage() != Stage.ACQUIRING) {
            return; // the subscriber has cancelled, or the client closes
        } else if (mode == Mode.WAIT && !emission.admit()) { // only a wait needs a place
            acquiring(s -> s.refusedHere(engine().queueFull(lockName())));
        } else {
            ClaimWatch started = mode == Mode.WAIT ? ClaimWatch.start(engine().backend, claim(), this) : null;
            watch = started;
            boolean armed = started != null && started.isArmed();
            long limit = lock.options().waitTimeout().map(Duration::toNanos).orElse(0L);
            acquiring(s -> s.begin(lock.terms(), mode, armed, emission.startedAtNanos() + limit, now()));
            if (state instanceof AcquireState s && s.phase() == Phase.ENDED && s.attempt() == 0) {
                emission.dismiss(); // it ended before it had a place
                stopWatching();
            }
        }
    }

    @Override
    public void left() {
        if (state == null) {
            return; // before the claim has its id: open() comes back to it
        }
        reportCancelled();
        if (isKept() && stage() == Stage.ACQUIRING) {
            engine().keptClaims.add(claim().id()); // before the answer: the text may be adopted again at once
        }
        acquiring(AcquireState::left);
    }

    private void reportCancelled() {
        acquireEvents.ended(new LockEvent.AcquireCancelled(subject(), emission.waited(), attempts()));
    }

    @Override
    public Stage stage() {
        if (state instanceof LeaseState) {
            return Stage.HOLDING;
        }
        return state instanceof AcquireState s && s.phase() == Phase.ENDED ? Stage.RELEASING : Stage.ACQUIRING;
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
        happens(ClaimState.class, ClaimState::closed);
    }

    @Override
    public ClientReport.@Nullable Wait waiting() {
        return stage() == Stage.ACQUIRING
                ? new ClientReport.Wait(lockName(), lock.key().kind(), lock.permits(), emission.waited())
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

    @Override
    public void signalled(WatchSignal signal) {
        happens(ClaimState.class, s -> s.signalled(signal, sentAttempt, now()));
    }

    @Override
    public void signalsStopped() {
        happens(ClaimState.class, s -> s.unwatched(now()));
    }

    @Override
    void act(Step step) {
        switch (step.action()) {
            case NONE -> finish(step, null);
            case ATTEMPT -> send(step.acquiring().attempt());
            case DELIVER -> deliver();
            case NOT_AVAILABLE -> {
                handedOut = false; // an adopted claim that does not hold the lock has no least hold time
                finish(step, null);
                if (engine().events.areWanted()) {
                    acquireEvents.ended(new LockEvent.NotAvailable(subject(), emission.waited()));
                }
                emission.complete();
            }
            case TIMED_OUT, CLOSED, FAIL, GRANTED_TOO_LATE -> finish(step, error(step));
            default -> super.act(step);
        }
    }

    private LockException error(Step step) {
        AcquireState last = step.acquiring();
        return switch (step.action()) {
            case TIMED_OUT ->
                new LockTimeoutException(lockName(), emission.waited(), attempts(), last.isAnswered(), last.failure());
            case CLOSED -> engine().closedException(lockName());
            case FAIL -> requireNonNull(last.failure());
            default ->
                new LockBackendException(
                        lockName(),
                        "back end %s granted lock '%s' %d times, each time for less than its answer took; is the lease long enough?"
                                .formatted(engine().backend.name(), lockName(), attempts()),
                        true,
                        null);
        };
    }

    private void finish(Step step, @Nullable LockException error) {
        if (!(step.state() instanceof AcquireState last)) {
            return;
        }
        boolean isEnd = last.phase() == Phase.ENDED;
        try {
            if (step.withdraws()) {
                // First: the error may make another thread release the lock, and this claim must not get it.
                withdraw(last);
            } else if (isEnd) {
                stopWatching();
                engine().keptClaims.remove(claim().id()); // it does not hold the lock, so there is nothing to keep
            }
        } finally {
            if (error != null) {
                fail(error);
            }
            if (isEnd) {
                engine().ended(this);
                emission.dismiss();
            }
        }
    }

    private void withdraw(AcquireState last) {
        alarmOff();
        if (adoption != null && last.attempt() == 0 && engine().refuses(this)) {
            engine().keptClaims.remove(claim().id());
            return; // it has sent nothing, and another client may adopt it
        }
        LockClaim withdrawn = claim().withAttempt(last.releaseAttempt());
        endAtStore(withdrawn, lock.storeForgetsAtNanos(), new InBackground());
    }

    @Override
    long heldSinceNanos() {
        return state instanceof LeaseState s ? s.hold().grantedAtNanos() : emission.startedAtNanos();
    }

    /** A back end may answer within the sending: the next attempt then needs no more of the stack. */
    private void send(int number) {
        attemptToSend = number;
        if (SENDS.getAndIncrement(this) != 0) {
            return; // the thread that is sending sends it
        }
        do {
            int sending = attemptToSend;
            BackendCall.start(lock, emission.context(), attempt(sending), now());
            sentAttempt = sending;
        } while (SENDS.decrementAndGet(this) != 0);
    }

    private BackendCall.Request<LockAttempt> attempt(int number) {
        return new BackendCall.Request<>() {

            @Override
            public String what() {
                return "attempt " + number;
            }

            @Override
            public Mono<LockAttempt> ask() {
                return adoption != null
                        ? adoption.ask(claim())
                        : engine().backend.tryAcquire(claim().withAttempt(number));
            }

            @Override
            public void answered(LockAttempt answer) {
                acquiring(s -> s.answered(number, answer, now(), engine().random()));
            }

            @Override
            public void failed(LockBackendException error, int answered) {
                try {
                    report(new LockEvent.AttemptFailed(subject(), number, error));
                } finally {
                    acquiring(s -> s.attemptFailed(number, error, now(), engine().random()));
                }
            }

            @Override
            public void refused(LockQueueFullException error) {
                acquiring(s -> s.refused(number, error));
            }
        };
    }

    private void deliver() {
        LeaseHandle lease = new LeaseHandle(this, grantedSignals, false);
        if (watch == null) {
            ClaimWatch started = ClaimWatch.start(engine().backend, claimOf(lease()), this);
            watch = started;
            boolean unused = started.isArmed();
        }
        if (lease().isOver()) {
            stopWatching(); // the lease ended before the watch was set
        }
        handle = new WeakReference<>(lease); // from now on the lease is the subscriber's, or garbage
        RejectedExecutionException rejected = engine().delivery.rejection(() -> emit(lease));
        if (rejected != null) {
            release(false);
            RuntimeException refusal = engine().delivery.refusal(lockName(), rejected);
            reportFailed(refusal);
            emission.failNow(refusal);
            emissionOver();
        }
    }

    private void emit(LeaseHandle lease) {
        if (!lease.isValid() || engine().refuses(this)) {
            missed();
        } else if (emission.begin()) {
            if (engine().events.areWanted()) {
                report(new LockEvent.Acquired(subject(), lease.fencingToken(), emission.waited(), attempts()));
            }
            holdEvents.begun();
            handedOut |= !isMember;
            emissionOver();
            emission.emit(lease);
        } else {
            release(false);
            emission.dismiss();
            reportCancelled(); // its own cancellation may never arrive
            emissionOver();
        }
    }

    /** The lease ended before it was handed out: another claim takes its place, which no late answer can reach. */
    private void missed() {
        release(false);
        if (emission.isOver()) {
            emission.dismiss();
        } else if (engine().refuses(this)) {
            fail(engine().closedException(lockName()));
        } else if (adoption != null) {
            fail(adoption.lost(LossReason.EXPIRED, "it ended before it could be handed out here"));
        } else {
            Claim again = new Claim(this);
            emission.handTo(again); // before its state, which tells it of a cancellation
            // By the timer: a back end whose grants are over at once must not use up the stack.
            engine().alarms.set(Alarm.atTheLatestAtClose(() -> again.start(false)), now());
        }
        emissionOver();
    }

    private void fail(LockException error) {
        emission.dismiss();
        if (emission.isOpen()) {
            reportFailed(error);
        }
        emission.fail(error);
    }

    private void reportFailed(Throwable error) {
        acquireEvents.ended(new LockEvent.AcquireFailed(subject(), emission.waited(), attempts(), error));
    }

    @Override
    void broken(Throwable defect) {
        String name = Printable.text(lockName());
        Fallible.log(defect, LOG, "an event of a claim of lock '%s' could not be handled".formatted(name));
        try {
            fail(new LockBackendException(
                    lockName(),
                    "acquisition of lock '%s' met something unexpected in an answer of back end %s, or in this library: %s"
                            .formatted(lockName(), engine().backend.name(), defect),
                    false,
                    defect));
        } finally {
            Step end = decided(AcquireState.class, AcquireState::broken);
            if (end != null) {
                finish(end, null);
            } else if (state instanceof LeaseState && handle == null) {
                release(false); // not handed out
                emissionOver();
            }
        }
    }

    private int attempts() {
        if (state instanceof LeaseState s) {
            return attemptsBefore + (adoption != null ? 1 : s.hold().attempt());
        }
        return attemptsBefore + (state instanceof AcquireState s ? s.attempt() : 0);
    }
}
