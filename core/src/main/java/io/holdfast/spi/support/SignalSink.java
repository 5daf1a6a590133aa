package io.holdfast.spi.support;

import io.holdfast.internal.timing.Drain;
import io.holdfast.spi.WatchSignal;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * One subscriber to the signals of a claim, with the queue of its signals. The signals wait for the demand of the
 * subscriber. The first one is {@code Armed}: from then on the subscriber misses no signal.
 */
public final class SignalSink implements Subscription, Consumer<WatchSignal>, Runnable {

    private static final WatchSignal ARMED = new WatchSignal.Armed();

    private static final AtomicLongFieldUpdater<SignalSink> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(SignalSink.class, "requested");

    private final String claimId;
    private final CoreSubscriber<? super WatchSignal> subscriber;
    private final Consumer<SignalSink> onCancel;

    /** The signal to send next, if there is one. Guarded by this object. */
    private @Nullable WatchSignal next;

    /** The signals behind it; seldom needed. Guarded by this object. */
    private @Nullable Queue<WatchSignal> behind;

    private final Drain draining = new Drain(this::emit);

    private volatile long requested;
    private volatile boolean ended;

    /** Written once, when the back end closes. */
    private volatile @Nullable Throwable failure;

    /**
     * Makes a sink that has {@code Armed} to send.
     *
     * @param claimId the id of the watched claim
     * @param subscriber gets the signals; the caller passes this sink to its {@code onSubscribe}
     * @param onCancel runs when the subscriber cancels
     */
    public SignalSink(String claimId, CoreSubscriber<? super WatchSignal> subscriber, Consumer<SignalSink> onCancel) {
        this(claimId, onCancel, subscriber);
        next = ARMED;
    }

    private SignalSink(String claimId, Consumer<SignalSink> onCancel, CoreSubscriber<? super WatchSignal> subscriber) {
        this.claimId = claimId;
        this.subscriber = subscriber;
        this.onCancel = onCancel;
    }

    /**
     * Makes a sink without a signal, for a decorator that passes on the signals of another back end.
     *
     * @param claimId the id of the watched claim
     * @param subscriber gets the signals; the caller passes this sink to its {@code onSubscribe}
     * @param onCancel runs when the subscriber cancels
     * @return a sink
     */
    public static SignalSink relay(
            String claimId, CoreSubscriber<? super WatchSignal> subscriber, Consumer<SignalSink> onCancel) {
        return new SignalSink(claimId, onCancel, subscriber);
    }

    /** {@return the id of the watched claim} */
    public String claimId() {
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

    /**
     * Returns whether the subscriber gets no signal any more.
     *
     * @return true after its cancellation or its error
     */
    public boolean isOver() {
        return ended;
    }

    /**
     * Ends the signals, after those that were added.
     *
     * @param error the reason
     */
    public void fail(Throwable error) {
        failure = error;
        runIfDue();
    }

    /** Adds a signal. The caller calls {@link #run} after that if it {@link #isDue}. */
    @Override
    public void accept(WatchSignal signal) {
        synchronized (this) {
            if (next == null) {
                next = signal;
                return;
            }
            behind = behind == null ? new ArrayDeque<>(2) : behind;
            behind.add(signal);
        }
    }

    private @Nullable WatchSignal poll() {
        synchronized (this) {
            WatchSignal polled = next;
            next = behind == null ? null : behind.poll();
            return polled;
        }
    }

    /** {@return whether the caller has to drain the queue, by {@link #run}; false when another thread drains it} */
    public boolean isDue() {
        return draining.isDue();
    }

    /** Drains the queue; one thread runs it at a time. */
    @Override
    public void run() {
        draining.run();
    }

    private void runIfDue() {
        if (isDue()) {
            run();
        }
    }

    private void emit() {
        long most = requested;
        long emitted = 0;
        while (emitted < most && !ended) {
            WatchSignal signal = poll();
            if (signal == null) {
                break;
            }
            emitted++;
            try {
                subscriber.onNext(signal);
            } catch (Throwable thrown) {
                cancel(); // as if it had cancelled: rule 2.13 of Reactive Streams
                subscriber.onError(thrown);
            }
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
