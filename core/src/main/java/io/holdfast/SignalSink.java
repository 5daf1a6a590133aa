package io.holdfast;

import io.holdfast.spi.WatchSignal;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/** One subscriber to the signals of a claim, which come from any thread and wait for demand. */
final class SignalSink implements Subscription, Consumer<WatchSignal> {

    private final CoreSubscriber<? super WatchSignal> subscriber;
    private final Consumer<SignalSink> cancelled;
    private final Queue<WatchSignal> signals = new ConcurrentLinkedQueue<>();
    private final AtomicInteger wanted = new AtomicInteger();
    private final AtomicLong demand = new AtomicLong();

    /** Written once, before the last drain. */
    private volatile @Nullable Throwable failure;

    private volatile boolean isOver;

    SignalSink(CoreSubscriber<? super WatchSignal> subscriber, Consumer<SignalSink> cancelled) {
        this.subscriber = subscriber;
        this.cancelled = cancelled;
        signals.add(new WatchSignal.Armed()); // nothing is missed from now on
    }

    @Override
    public void accept(WatchSignal signal) {
        signals.add(signal);
        drain();
    }

    void fail(Throwable error) {
        failure = error;
        drain();
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n)) {
            demand.accumulateAndGet(n, Operators::addCap);
            drain();
        }
    }

    @Override
    public void cancel() {
        isOver = true;
        cancelled.accept(this);
    }

    private void drain() {
        if (wanted.getAndIncrement() != 0) {
            return;
        }
        int missed = 1;
        do {
            emit();
            missed = wanted.addAndGet(-missed);
        } while (missed != 0);
    }

    private void emit() {
        while (!isOver && demand.get() > 0) {
            WatchSignal signal = signals.poll();
            if (signal == null) {
                break;
            }
            if (demand.get() != Long.MAX_VALUE) {
                demand.decrementAndGet();
            }
            subscriber.onNext(signal);
        }
        Throwable error = failure;
        if (error != null && !isOver) {
            isOver = true;
            subscriber.onError(error);
        }
    }
}
