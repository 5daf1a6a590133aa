package io.holdfast.internal.claim;

import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Fallible;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/** Receives the signals of one claim, from before its first attempt until its release. */
final class ClaimWatch implements CoreSubscriber<WatchSignal> {

    interface Target {

        void signalled(WatchSignal signal);

        /** The target has to poll from then on. */
        void signalsStopped();
    }

    private static final Logger LOG = LoggerFactory.getLogger(ClaimWatch.class);

    private static final int STARTING = 0;
    private static final int ARMED_BEFORE_FIRST_ATTEMPT = 1;
    private static final int STARTED = 2;

    private static final AtomicIntegerFieldUpdater<ClaimWatch> STAGE =
            AtomicIntegerFieldUpdater.newUpdater(ClaimWatch.class, "stage");

    private static final AtomicReferenceFieldUpdater<ClaimWatch, Subscription> SUBSCRIPTION =
            AtomicReferenceFieldUpdater.newUpdater(ClaimWatch.class, Subscription.class, "subscription");

    private volatile int stage;

    private final Target target;

    /** Cancelled by the disposal, also if that comes first. */
    private volatile @Nullable Subscription subscription;

    private ClaimWatch(Target target) {
        this.target = target;
    }

    /** Starts a watch; the caller reads {@link #isArmed} before the first attempt. */
    static ClaimWatch start(LockBackend backend, LockClaim claim, Target target) {
        ClaimWatch watch = new ClaimWatch(target);
        try {
            backend.watch(claim).subscribe(watch);
        } catch (RuntimeException thrown) {
            watch.onError(thrown); // a watch that fails to start counts as a watch that fails: the target polls
        }
        return watch;
    }

    /** Returns whether the watch has been active so far. From now on every signal reaches the target. */
    boolean isArmed() {
        return STAGE.getAndSet(this, STARTED) == ARMED_BEFORE_FIRST_ATTEMPT;
    }

    void dispose() {
        boolean unused = Operators.terminate(SUBSCRIPTION, this);
    }

    @Override
    public void onSubscribe(Subscription s) {
        if (Operators.setOnce(SUBSCRIPTION, this, s)) {
            s.request(Long.MAX_VALUE);
        }
    }

    @Override
    public void onNext(WatchSignal signal) {
        boolean beforeTheFirstAttempt = signal instanceof WatchSignal.Armed
                && (STAGE.compareAndSet(this, STARTING, ARMED_BEFORE_FIRST_ATTEMPT)
                        || stage == ARMED_BEFORE_FIRST_ATTEMPT);
        if (!beforeTheFirstAttempt) {
            pass(() -> target.signalled(signal));
        }
    }

    @Override
    public void onError(Throwable error) {
        stage = STARTED; // it is not armed
        pass(target::signalsStopped);
    }

    /** A watch should last until it is cancelled. */
    @Override
    public void onComplete() {
        stage = STARTED;
        pass(target::signalsStopped);
    }

    /** The back end's thread goes on with the signals of other claims. */
    private void pass(Runnable signal) {
        if (subscription != Operators.cancelledSubscription()) {
            Fallible.run(signal, LOG, "a signal of a back end could not be handled");
        }
    }
}
