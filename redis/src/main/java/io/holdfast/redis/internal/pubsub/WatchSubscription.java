package io.holdfast.redis.internal.pubsub;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.concurrent.Queues;

/**
 * One subscription to the signals of a claim, which lasts until it is cancelled or fails. Several threads may bring
 * signals at once; the subscription emits them one after the other and loses none. Most claims get the lock at once and
 * no signal. So there is no queue before the first signal that has to wait for demand or for another thread.
 */
final class WatchSubscription implements Subscription {

    private static final AtomicIntegerFieldUpdater<WatchSubscription> UNDER_WAY =
            AtomicIntegerFieldUpdater.newUpdater(WatchSubscription.class, "underWay");

    private static final AtomicLongFieldUpdater<WatchSubscription> DEMAND =
            AtomicLongFieldUpdater.newUpdater(WatchSubscription.class, "demand");

    private final WatchedClaims owner;
    private final LockClaim claim;
    private final CoreSubscriber<? super WatchSignal> subscriber;

    /**
     * Raised by each thread that has a signal or an error. The thread that raises it from zero emits for all. 1 until
     * the hand-over.
     */
    private volatile int underWay = 1;

    private volatile long demand;

    /** Null before a signal has to wait. */
    private volatile @Nullable Queue<WatchSignal> waiting;

    /** Written by the subscription, before it raises {@link #underWay}. */
    private volatile @Nullable Throwable failure;

    /** Written by the thread that cancels, and by the thread that emits the failure. */
    private volatile boolean isOver;

    WatchSubscription(WatchedClaims owner, LockClaim claim, CoreSubscriber<? super WatchSignal> subscriber) {
        this.owner = owner;
        this.claim = claim;
        this.subscriber = subscriber;
    }

    /** Gives this to the subscriber, and then the signals that came before. Called once. */
    void handOver() {
        subscriber.onSubscribe(this);
        drain();
    }

    /** Emits the signal, now or in its turn. */
    void signal(WatchSignal signal) {
        if (isOver) {
            return;
        }
        if (underWay == 0 && UNDER_WAY.compareAndSet(this, 0, 1)) {
            if (demand > 0 && !hasWaiting()) {
                passOn(signal);
            } else {
                keep(signal);
            }
            drain();
        } else {
            keep(signal);
            drainIfFirst();
        }
    }

    /** Ends the subscription, after the signals before. Its claim goes on without it. */
    void fail(Throwable error) {
        owner.failed(claim.id(), this);
        failure = error;
        drainIfFirst();
    }

    private void drainIfFirst() {
        if (UNDER_WAY.getAndIncrement(this) == 0) {
            drain();
        }
    }

    private void drain() {
        int seen = 1;
        while (seen != 0) {
            passOnWaiting();
            seen = UNDER_WAY.addAndGet(this, -seen);
        }
    }

    private void passOnWaiting() {
        Throwable error = failure; // before the queue: earlier signals are in there
        Queue<WatchSignal> queue = waiting;
        while (queue != null && !isOver && demand > 0) {
            WatchSignal next = queue.poll();
            if (next == null) {
                break;
            }
            passOn(next);
        }
        if (isOver) {
            waiting = null;
        } else if (error != null && !hasWaiting()) {
            isOver = true;
            subscriber.onError(error);
        }
    }

    private void passOn(WatchSignal signal) {
        if (demand != Long.MAX_VALUE) {
            DEMAND.decrementAndGet(this);
        }
        try {
            subscriber.onNext(signal);
        } catch (RuntimeException | Error thrown) {
            // The exception must keep neither the channel from others, nor this thread from the next signal.
            cancel();
            subscriber.onError(Operators.onOperatorError(null, thrown, signal, subscriber.currentContext()));
        }
    }

    private boolean hasWaiting() {
        Queue<WatchSignal> queue = waiting;
        return queue != null && !queue.isEmpty();
    }

    private void keep(WatchSignal signal) {
        Queue<WatchSignal> queue = waiting;
        if (queue == null) {
            synchronized (this) {
                queue = waiting;
                if (queue == null) {
                    queue = Queues.<WatchSignal>unboundedMultiproducer().get();
                    waiting = queue;
                }
            }
        }
        queue.add(signal);
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n)) {
            DEMAND.getAndUpdate(this, before -> Operators.addCap(before, n));
            if (waiting != null || failure != null) {
                drainIfFirst();
            }
        }
    }

    @Override
    public void cancel() {
        if (isOver) {
            return;
        }
        isOver = true;
        owner.remove(claim.id(), this);
        if (waiting != null) {
            drainIfFirst(); // drops the waiting signals
        }
    }
}
