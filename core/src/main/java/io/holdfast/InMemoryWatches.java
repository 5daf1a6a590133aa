package io.holdfast;

import io.holdfast.spi.WatchSignal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.FluxSink;
import reactor.core.scheduler.Scheduler;

/**
 * Who watches which claim. All methods are called under the back end's monitor, {@link Watch#deliver} and
 * {@link Watch#deliverNow} outside of it.
 */
final class InMemoryWatches {

    private final Map<String, List<Watch>> byClaim = new HashMap<>();
    private final Scheduler deliverOn;

    InMemoryWatches(Scheduler deliverOn) {
        this.deliverOn = deliverOn;
    }

    boolean isWatched(String claimId) {
        return byClaim.containsKey(claimId);
    }

    /** From now on no signal is missed: {@code Armed} is the first one in its queue. */
    Watch open(String claimId, FluxSink<WatchSignal> sink) {
        Watch watch = new Watch(sink, deliverOn);
        watch.signals.add(new WatchSignal.Armed());
        byClaim.computeIfAbsent(claimId, it -> new ArrayList<>(1)).add(watch);
        return watch;
    }

    void close(String claimId, Watch watch) {
        byClaim.computeIfPresent(claimId, (id, watches) -> {
            watches.remove(watch);
            return watches.isEmpty() ? null : watches;
        });
    }

    /** Puts the signal into the queues, in the order of the decisions. The caller delivers when it has left the monitor. */
    List<Watch> enqueue(String claimId, WatchSignal signal) {
        List<Watch> watches = List.copyOf(byClaim.getOrDefault(claimId, List.of()));
        watches.forEach(watch -> watch.signals.add(signal));
        return watches;
    }

    List<String> contents() {
        return byClaim.keySet().stream().map("watch of claim %s"::formatted).toList();
    }

    List<Watch> clear() {
        List<Watch> all = byClaim.values().stream().flatMap(List::stream).toList();
        byClaim.clear();
        return all;
    }

    /** One subscriber, and its signals on their way. */
    static final class Watch {

        private final Queue<WatchSignal> signals = new ConcurrentLinkedQueue<>();
        private final AtomicInteger wanted = new AtomicInteger();
        private final FluxSink<WatchSignal> sink;
        private final Scheduler deliverOn;

        private Watch(FluxSink<WatchSignal> sink, Scheduler deliverOn) {
            this.sink = sink;
            this.deliverOn = deliverOn;
        }

        /**
         * Hands over on the scheduler: a waiter that is granted may release at once, which grants the next one, and a long
         * queue would end in a stack overflow on the releasing thread.
         */
        void deliver() {
            if (wanted.getAndIncrement() != 0) {
                return;
            }
            try {
                deliverOn.schedule(this::drain);
            } catch (RejectedExecutionException schedulerIsDisposed) {
                drain();
            }
        }

        void deliverNow() {
            if (wanted.getAndIncrement() == 0) {
                drain();
            }
        }

        void fail(Throwable error) {
            sink.error(error);
        }

        private void drain() {
            int missed = wanted.get();
            do {
                for (WatchSignal signal = signals.poll(); signal != null; signal = signals.poll()) {
                    sink.next(signal);
                }
                missed = wanted.addAndGet(-missed);
            } while (missed != 0);
        }
    }
}
