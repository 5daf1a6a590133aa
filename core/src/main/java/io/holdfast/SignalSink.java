package io.holdfast;

import io.holdfast.spi.WatchSignal;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * One subscriber to the signals of a claim, and its signals on their way. They wait for its demand. The first one is {@code Armed}: nothing is
 * missed from then on.
 */
final class SignalSink implements Subscription, Consumer<WatchSignal>, Runnable {

    private static final WatchSignal ARMED = new WatchSignal.Armed();

    private static final AtomicIntegerFieldUpdater<SignalSink> DUE =
            AtomicIntegerFieldUpdater.newUpdater(SignalSink.class, "due");
    private static final AtomicLongFieldUpdater<SignalSink> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(SignalSink.class, "requested");

    private final String claimId;
    private final CoreSubscriber<? super WatchSignal> subscriber;
    private final Consumer<SignalSink> onCancel;

    /** Guarded by its own monitor. */
    private final Queue<WatchSignal> signals = new ArrayDeque<>(2);

    /** Raised for each reason to look at the queue; the thread that raises it from zero brings about that attempt. */
    private volatile int due;

    private volatile long requested;
    private volatile boolean ended;

    /** Written once, by the store that closes. */
    private volatile @Nullable Throwable failure;

    SignalSink(String claimId, CoreSubscriber<? super WatchSignal> subscriber, Consumer<SignalSink> onCancel) {
        this.claimId = claimId;
        this.subscriber = subscriber;
        this.onCancel = onCancel;
        signals.add(ARMED);
    }

    String claimId() {
        return claimId;
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n)) {
            long unused = Operators.addCap(REQUESTED, this, n);
            runIfDue();
        }
    }

    @Override
    public void cancel() {
        ended = true;
        onCancel.accept(this);
    }

    void fail(Throwable error) {
        failure = error;
        runIfDue();
    }

    /** One more. Call {@link #run} if it {@link #isDue} after that. */
    @Override
    public void accept(WatchSignal signal) {
        synchronized (signals) {
            signals.add(signal);
        }
    }

    private @Nullable WatchSignal poll() {
        synchronized (signals) {
            return signals.poll();
        }
    }

    /** Whether a look at the queue is up to the caller, by {@link #run}. */
    boolean isDue() {
        return DUE.getAndIncrement(this) == 0;
    }

    private void runIfDue() {
        if (isDue()) {
            run();
        }
    }

    /** By one thread at a time. */
    @Override
    public void run() {
        int seen = due;
        do {
            emit();
            seen = DUE.addAndGet(this, -seen);
        } while (seen != 0);
    }

    private void emit() {
        long most = requested;
        long emitted = 0;
        while (emitted < most && !ended) {
            WatchSignal signal = poll();
            if (signal == null) {
                break;
            }
            subscriber.onNext(signal);
            emitted++;
        }
        if (emitted != 0) {
            long unused = Operators.produced(REQUESTED, this, emitted);
        }
        Throwable error = failure;
        if (error != null && !ended) {
            ended = true;
            subscriber.onError(error);
        }
    }
}
