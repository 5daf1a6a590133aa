package io.holdfast.spi.support;

import io.holdfast.spi.WatchSignal;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * One subscriber to the signals of a claim, with the queue of its signals. The signals wait until {@link #handOver},
 * and for the demand of the subscriber. Any thread adds signals at any time: the subscriber gets them one after the
 * other, and misses none.
 */
public final class SignalSink implements Subscription, Consumer<WatchSignal>, Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(SignalSink.class);

    private static final AtomicIntegerFieldUpdater<SignalSink> DUE =
            AtomicIntegerFieldUpdater.newUpdater(SignalSink.class, "due");

    private static final AtomicLongFieldUpdater<SignalSink> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(SignalSink.class, "requested");

    private final String claimId;
    private final CoreSubscriber<? super WatchSignal> subscriber;
    private final Consumer<SignalSink> onCancel;

    /** Counts the reasons to drain the queue; the thread that raises it from zero drains it. 1 until the hand-over. */
    private volatile int due = 1;

    /** The signal to send next, if there is one. Written under the monitor of this object. */
    private volatile @Nullable WatchSignal next;

    /** The signals behind it; seldom needed. Guarded by this object. */
    private @Nullable Queue<WatchSignal> behind;

    private volatile long requested;
    private volatile boolean ended;

    /** Written by {@link #fail}. */
    private volatile @Nullable Throwable failure;

    /**
     * Makes a sink without a signal. A back end adds {@code Armed} when the subscriber misses no signal any more.
     *
     * @param claimId the id of the watched claim
     * @param subscriber gets the signals after {@link #handOver}
     * @param onCancel runs when the subscriber cancels
     */
    public SignalSink(String claimId, CoreSubscriber<? super WatchSignal> subscriber, Consumer<SignalSink> onCancel) {
        this.claimId = claimId;
        this.subscriber = subscriber;
        this.onCancel = onCancel;
    }

    /** Gives this to the subscriber, and then the signals that were added before. Called once. */
    public void handOver() {
        subscriber.onSubscribe(this);
        run();
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
        if (!ended) {
            ended = true;
            if (failure == null) {
                onCancel.accept(this);
            }
        }
    }

    /**
     * Ends the signals, after those that were added before. After that a cancellation has no effect: the caller forgets this
     * sink by itself.
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
        if (next == null) {
            return null;
        }
        synchronized (this) {
            WatchSignal polled = next;
            next = behind == null ? null : behind.poll();
            return polled;
        }
    }

    /** {@return whether the caller has to drain the queue, by {@link #run}; false when another thread drains it} */
    public boolean isDue() {
        return DUE.getAndIncrement(this) == 0;
    }

    /** Drains the queue; one thread runs it at a time. */
    @Override
    public void run() {
        int seen = due;
        do {
            try {
                emit();
            } catch (Throwable thrown) {
                Fallible.log(thrown, LOG, "a signal could not be delivered");
            }
            seen = DUE.addAndGet(this, -seen);
        } while (seen != 0);
    }

    private void runIfDue() {
        if (isDue()) {
            run();
        }
    }

    private void emit() {
        Throwable error = failure; // first: the signals before it are in the queue
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
        if (error != null && !ended && next == null) {
            ended = true;
            subscriber.onError(error);
        }
    }
}
