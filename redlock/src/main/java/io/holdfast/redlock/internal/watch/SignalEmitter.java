package io.holdfast.redlock.internal.watch;

import io.holdfast.spi.WatchSignal;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Operators;

/**
 * Emits the signals of several threads to one subscriber, one after the other; none is lost. Most claims get the lock
 * at once and few signals, so there is no queue before the first signal. The queue of {@code Flux.create} has room for
 * 256 from the beginning.
 */
final class SignalEmitter implements Subscription {

    private final CoreSubscriber<? super WatchSignal> subscriber;

    /** Run when the subscription is over; may be run twice. */
    private final Runnable atEnd;

    // All below: guarded by this.
    private @Nullable Queue<WatchSignal> waiting;
    private @Nullable Throwable failure;
    private long demand;
    private boolean isOver;

    /** Whether a thread emits signals: it emits those of other threads too. */
    private boolean isPassing;

    SignalEmitter(CoreSubscriber<? super WatchSignal> subscriber, Runnable atEnd) {
        this.subscriber = subscriber;
        this.atEnd = atEnd;
    }

    synchronized boolean isOver() {
        return isOver;
    }

    void next(WatchSignal signal) {
        synchronized (this) {
            if (isOver || failure != null) {
                return;
            }
            if (waiting == null) {
                waiting = new ArrayDeque<>(1);
            }
            waiting.add(signal);
        }
        passOn();
    }

    /** Ends the subscription, after the signals before. */
    void error(Throwable error) {
        synchronized (this) {
            if (isOver || failure != null) {
                return;
            }
            failure = error;
        }
        atEnd.run();
        passOn();
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n)) {
            synchronized (this) {
                demand = Operators.addCap(demand, n);
            }
            passOn();
        }
    }

    @Override
    public void cancel() {
        synchronized (this) {
            if (isOver) {
                return;
            }
            isOver = true;
            waiting = null;
        }
        atEnd.run();
    }

    private void passOn() {
        for (WatchSignal next = first(false); next != null; next = first(true)) {
            passOn(next);
        }
        Throwable error = end();
        if (error != null) {
            subscriber.onError(error);
        }
    }

    private void passOn(WatchSignal signal) {
        try {
            subscriber.onNext(signal);
        } catch (RuntimeException | Error thrown) {
            Exceptions.throwIfJvmFatal(thrown);
            cancel();
            subscriber.onError(Operators.onOperatorError(null, thrown, signal, subscriber.currentContext()));
        }
    }

    /** Returns the signal to emit now. */
    private synchronized @Nullable WatchSignal first(boolean isOfThisThread) {
        if (isPassing && !isOfThisThread) {
            return null;
        }
        WatchSignal next = waiting != null && demand > 0 ? waiting.poll() : null;
        isPassing = next != null;
        if (next != null && demand != Long.MAX_VALUE) {
            demand--;
        }
        return next;
    }

    /** Returns the failure to emit now. */
    private synchronized @Nullable Throwable end() {
        boolean isDue = failure != null && !isOver && !isPassing && (waiting == null || waiting.isEmpty());
        isOver |= isDue;
        return isDue ? failure : null;
    }
}
