package io.holdfast.zookeeper.internal.signal;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.WatchSignal;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * Emits a claim's signals to one subscriber, one at a time. It needs no queue: of the signals that the subscriber has not requested yet, it
 * keeps one of each kind, since a second "changed" says no more than the first. Thread-safe.
 */
final class SignalSubscription implements Subscription {

    private static final AtomicIntegerFieldUpdater<SignalSubscription> KEPT =
            AtomicIntegerFieldUpdater.newUpdater(SignalSubscription.class, "kept");
    private static final AtomicLongFieldUpdater<SignalSubscription> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(SignalSubscription.class, "requested");
    private static final AtomicIntegerFieldUpdater<SignalSubscription> DRAINS =
            AtomicIntegerFieldUpdater.newUpdater(SignalSubscription.class, "drains");

    private static final WatchSignal ARMED_SIGNAL = new WatchSignal.Armed();
    private static final WatchSignal CHANGED_SIGNAL = new WatchSignal.Changed();

    // In the order in which they are emitted.
    private static final int ARMED = 1;
    private static final int CHANGED = 2;
    private static final int GRANTED = 4;
    private static final int LOST = 8;

    private final CoreSubscriber<? super WatchSignal> subscriber;
    private final Consumer<SignalSubscription> atCancel;

    /** A bit for each kind of signal that is still to be emitted. */
    private volatile int kept;

    @SuppressWarnings("unused") // used by REQUESTED only
    private volatile long requested;

    /** Counts calls of drain. The thread that makes the first call emits the signals of all. */
    @SuppressWarnings("unused") // used by DRAINS only
    private volatile int drains;

    // Both hold the newest signal, and are written before its bit is set.
    private volatile WatchSignal.@Nullable Granted granted;
    private volatile WatchSignal.@Nullable Lost lost;

    /** Written when the signals end. */
    private volatile @Nullable Throwable error;

    /** Written by the subscriber's cancellation, and when the error is emitted. */
    private volatile boolean isOver;

    SignalSubscription(CoreSubscriber<? super WatchSignal> subscriber, Consumer<SignalSubscription> atCancel) {
        this.subscriber = subscriber;
        this.atCancel = atCancel;
    }

    void next(WatchSignal signal) {
        if (signal instanceof WatchSignal.Lost it) {
            lost = it;
            keep(LOST);
        } else if (signal instanceof WatchSignal.Granted it) {
            granted = it;
            keep(GRANTED);
        } else {
            keep(signal instanceof WatchSignal.Armed ? ARMED : CHANGED);
        }
    }

    void failed(Throwable why) {
        error = why;
        drain();
    }

    boolean isOver() {
        return isOver;
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n)) {
            Operators.addCap(REQUESTED, this, n);
            drain();
        }
    }

    @Override
    public void cancel() {
        isOver = true;
        atCancel.accept(this);
    }

    private void keep(int kind) {
        KEPT.getAndAccumulate(this, kind, (kinds, added) -> kinds | added);
        drain();
    }

    private void drain() {
        if (DRAINS.getAndIncrement(this) != 0) {
            return;
        }
        int seen = 1;
        do {
            passOn();
            seen = DRAINS.addAndGet(this, -seen);
        } while (seen != 0);
    }

    private void passOn() {
        while (!isOver && kept != 0 && requested > 0) {
            int kind = Integer.lowestOneBit(kept);
            KEPT.getAndAccumulate(this, kind, (kinds, taken) -> kinds & ~taken);
            Operators.produced(REQUESTED, this, 1);
            subscriber.onNext(signal(kind));
        }
        Throwable why = error;
        if (why != null && kept == 0 && !isOver) {
            isOver = true;
            subscriber.onError(why);
        }
    }

    private WatchSignal signal(int kind) {
        return switch (kind) {
            case ARMED -> ARMED_SIGNAL;
            case CHANGED -> CHANGED_SIGNAL;
            case GRANTED -> requireNonNull(granted, "no grant");
            default -> requireNonNull(lost, "no loss");
        };
    }
}
