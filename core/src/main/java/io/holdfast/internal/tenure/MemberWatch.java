package io.holdfast.internal.tenure;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/**
 * The signals of a claim that may be part of a run, from the back end and from its run. They go to the subscriber as
 * they come; from the first signal of a run on, through one queue.
 */
final class MemberWatch extends Flux<WatchSignal>
        implements CoreSubscriber<WatchSignal>, Subscription, Consumer<WatchSignal> {

    private static final Subscription FAILED = Operators.cancelledSubscription();

    final LockClaim claim;
    private final StoreFedBackend backend;

    /** Written by the only subscription. */
    @SuppressWarnings("NullAway.Init")
    private CoreSubscriber<? super WatchSignal> subscriber;

    /** Written by the back end; {@link #FAILED} when the claim gets no signals any more. */
    private volatile @Nullable Subscription upstream;

    /** Written by the attempts, one after the other. */
    volatile int lastAnswered;

    // The fields below are written under the monitor of the runs; the queue is read without it.

    private volatile @Nullable SignalSink queue;

    int lastAttempt;
    long attemptedAtNanos;

    /** Whether an attempt before the last one was never answered. */
    private boolean isOneUnanswered;

    /** The token of its last grant alone, or the highest when its client withdraws it: no run before that serves it. */
    long tokenAlone;

    MemberWatch(StoreFedBackend backend, LockClaim claim) {
        this.backend = backend;
        this.claim = claim;
    }

    @Override
    public void subscribe(CoreSubscriber<? super WatchSignal> actual) {
        subscriber = actual;
        backend.open(this);
    }

    boolean isOpen() {
        return upstream != FAILED;
    }

    void attempted(int attempt, long nowNanos) {
        if (attempt > lastAttempt) {
            isOneUnanswered = isUnanswered();
            lastAttempt = attempt;
            attemptedAtNanos = nowNanos;
        }
    }

    void leave() {
        tokenAlone = Long.MAX_VALUE;
    }

    boolean isUnanswered() {
        return isOneUnanswered || lastAnswered < lastAttempt;
    }

    @Override
    public void onSubscribe(Subscription s) {
        upstream = s;
        subscriber.onSubscribe(this);
    }

    /** The subscriber is the engine's, which takes all. */
    @Override
    public void request(long n) {
        Subscription s = upstream;
        if (s != null) {
            s.request(n);
        }
    }

    @Override
    public void onNext(WatchSignal signal) {
        boolean concernsRuns = signal instanceof WatchSignal.GrantedRun
                || signal instanceof WatchSignal.LostRun
                || signal instanceof WatchSignal.Granted;
        if (concernsRuns && backend.signalled(this, signal)) {
            return;
        }
        SignalSink queued = queue;
        if (queued == null) {
            subscriber.onNext(signal);
        } else {
            queued.accept(signal);
            if (queued.isDue()) {
                queued.run();
            }
        }
    }

    /** Adds a signal of a run, under the monitor of the runs. The caller drains {@link #queue} after that. */
    @Override
    public void accept(WatchSignal signal) {
        queue().accept(signal);
    }

    SignalSink queue() {
        SignalSink present = queue;
        if (present == null) {
            present = new SignalSink(claim.id(), subscriber, it -> close());
            present.request(Long.MAX_VALUE);
            present.run(); // the subscriber has its subscription
            queue = present;
        }
        return present;
    }

    @Override
    public void onError(Throwable error) {
        upstream = FAILED;
        SignalSink queued = queue;
        if (queued == null) {
            subscriber.onError(error);
        } else {
            queued.fail(error);
        }
    }

    /** A back end never ends its signals. */
    @Override
    public void onComplete() {
        onError(new IllegalStateException("the back end completed a watch, which should last until it is cancelled"));
    }

    @Override
    public void cancel() {
        close();
        SignalSink queued = queue;
        if (queued != null) {
            queued.cancel();
        }
    }

    private void close() {
        backend.closed(this);
        Subscription s = upstream;
        if (s != null) {
            s.cancel();
        }
    }
}
