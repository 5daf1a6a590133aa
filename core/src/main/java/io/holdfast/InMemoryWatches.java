package io.holdfast;

import io.holdfast.internal.DeliveryLine;
import io.holdfast.internal.memory.Push;
import io.holdfast.spi.WatchSignal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/**
 * The watches of each claim. The back end calls all methods under its monitor, except {@link #deliver} and those of {@link Watch}.
 */
final class InMemoryWatches {

    private final Map<String, List<Watch>> byClaim = new HashMap<>();
    private final DeliveryLine line;

    InMemoryWatches(Scheduler deliverOn) {
        line = new DeliveryLine(deliverOn);
    }

    boolean isWatched(String claimId) {
        return byClaim.containsKey(claimId);
    }

    /** From now on no signal is missed: {@code Armed} is the first one in its queue. */
    void open(Watch watch) {
        watch.add(Watch.ARMED);
        byClaim.computeIfAbsent(watch.claimId, it -> new ArrayList<>(1)).add(watch);
    }

    void close(Watch watch) {
        List<Watch> watches = byClaim.get(watch.claimId);
        if (watches != null && watches.remove(watch) && watches.isEmpty()) {
            byClaim.remove(watch.claimId);
        }
    }

    /** Puts the signals into the queues, in the order of the decisions. The caller delivers to these when it has left the monitor. */
    List<Watch> enqueue(List<Push> pushes) {
        if (pushes.isEmpty()) {
            return List.of();
        }
        List<Watch> told = new ArrayList<>(pushes.size());
        for (Push push : pushes) {
            for (Watch watch : byClaim.getOrDefault(push.claimId(), List.of())) {
                watch.add(push.signal());
                told.add(watch);
            }
        }
        return told;
    }

    /**
     * Not on the calling thread: a waiter that is granted may release at once, which grants the next one, and a long queue would end in a
     * stack overflow.
     */
    void deliver(Watch watch) {
        if (watch.isDue()) {
            line.deliver(watch);
        }
    }

    List<String> contents() {
        return byClaim.keySet().stream().map("watch of claim %s"::formatted).toList();
    }

    List<Watch> clear() {
        List<Watch> all = byClaim.values().stream().flatMap(List::stream).toList();
        byClaim.clear();
        return all;
    }

    /** One subscriber, and its signals on their way. They wait for its demand. */
    static final class Watch implements Subscription, Runnable {

        private static final WatchSignal ARMED = new WatchSignal.Armed();

        private static final AtomicIntegerFieldUpdater<Watch> DUE =
                AtomicIntegerFieldUpdater.newUpdater(Watch.class, "due");
        private static final AtomicLongFieldUpdater<Watch> REQUESTED =
                AtomicLongFieldUpdater.newUpdater(Watch.class, "requested");

        private final String claimId;
        private final CoreSubscriber<? super WatchSignal> subscriber;
        private final Consumer<Watch> onCancel;

        /** Guarded by its own monitor. */
        private final Queue<WatchSignal> signals = new ArrayDeque<>(2);

        /** Raised for each reason to look at the queue; the thread that raises it from zero brings about that look. */
        private volatile int due;

        private volatile long requested;
        private volatile boolean ended;

        /** Written once, by the store that closes. */
        private volatile @Nullable Throwable failure;

        Watch(String claimId, CoreSubscriber<? super WatchSignal> subscriber, Consumer<Watch> onCancel) {
            this.claimId = claimId;
            this.subscriber = subscriber;
            this.onCancel = onCancel;
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

        private void add(WatchSignal signal) {
            synchronized (signals) {
                signals.add(signal);
            }
        }

        private @Nullable WatchSignal poll() {
            synchronized (signals) {
                return signals.poll();
            }
        }

        private boolean isDue() {
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
}
