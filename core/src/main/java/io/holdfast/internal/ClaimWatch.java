package io.holdfast.internal;

import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * The signals of one claim, from before its first attempt until it is released: first for the acquisition, then for the lease that came of
 * it.
 */
final class ClaimWatch implements CoreSubscriber<WatchSignal> {

    /** Told what the store signals about the claim. */
    interface Target {

        void signalled(ClaimWatch from, WatchSignal signal);

        /** The signals stopped; the store has to be asked. */
        void signalsStopped(ClaimWatch from);
    }

    private static final int STARTING = 0;
    private static final int ARMED_BEFORE_THE_FIRST_LOOK = 1;
    private static final int STARTED = 2;

    private static final AtomicIntegerFieldUpdater<ClaimWatch> STAGE =
            AtomicIntegerFieldUpdater.newUpdater(ClaimWatch.class, "stage");

    private volatile int stage;

    /** Written by the acquisition, once, when it hands over to the lease. */
    private volatile Target target;

    /** Written when subscribed, and when disposed. */
    private volatile @Nullable Subscription subscription;

    private volatile boolean disposed;

    private ClaimWatch(Target target) {
        this.target = target;
    }

    /** Watches; ask {@link #armedSoFar} before the first attempt. */
    static ClaimWatch start(LockBackend backend, LockClaim claim, Target target) {
        ClaimWatch watch = new ClaimWatch(target);
        try {
            backend.watch(claim).subscribe(watch);
        } catch (RuntimeException thrown) {
            watch.onError(thrown); // as good as a watch that fails: the store is polled
        }
        return watch;
    }

    /** Whether watching was in force up to now. From now on every signal reaches the target. */
    boolean armedSoFar() {
        return STAGE.getAndSet(this, STARTED) == ARMED_BEFORE_THE_FIRST_LOOK;
    }

    void handTo(Target next) {
        target = next;
    }

    /** Who is told now. A signal that was on its way to another one meanwhile is for this one. */
    Target target() {
        return target;
    }

    void dispose() {
        disposed = true;
        Subscription s = subscription;
        if (s != null) {
            s.cancel();
        }
    }

    @Override
    public void onSubscribe(Subscription s) {
        if (!Operators.validate(subscription, s)) {
            return;
        }
        subscription = s;
        if (disposed) {
            s.cancel();
        } else {
            s.request(Long.MAX_VALUE);
        }
    }

    @Override
    public void onNext(WatchSignal signal) {
        boolean beforeTheFirstAttempt = signal instanceof WatchSignal.Armed
                && (STAGE.compareAndSet(this, STARTING, ARMED_BEFORE_THE_FIRST_LOOK)
                        || stage == ARMED_BEFORE_THE_FIRST_LOOK);
        if (!beforeTheFirstAttempt && !disposed) {
            target.signalled(this, signal);
        }
    }

    @Override
    public void onError(Throwable error) {
        if (!disposed) {
            target.signalsStopped(this);
        }
    }

    @Override
    public void onComplete() {
        onError(new IllegalStateException("the back end completed a watch, which should last until it is cancelled"));
    }
}
