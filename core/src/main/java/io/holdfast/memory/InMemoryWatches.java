package io.holdfast.memory;

import io.holdfast.internal.memory.Push;
import io.holdfast.internal.timing.DeliveryLine;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import reactor.core.scheduler.Scheduler;

/** The watches of each claim. All methods but {@link #deliver} are called under the monitor of the back end. */
final class InMemoryWatches {

    private final Map<String, List<SignalSink>> byClaim = new HashMap<>();
    private final DeliveryLine line;

    InMemoryWatches(Scheduler deliverOn) {
        line = new DeliveryLine(deliverOn);
    }

    boolean isWatched(String claimId) {
        return byClaim.containsKey(claimId);
    }

    /** Adds a watch. From now on it misses no signal. */
    void open(SignalSink watch) {
        watch.accept(new WatchSignal.Armed());
        byClaim.computeIfAbsent(watch.claimId(), it -> new ArrayList<>(1)).add(watch);
    }

    void close(SignalSink watch) {
        List<SignalSink> watches = byClaim.get(watch.claimId());
        if (watches != null && watches.remove(watch) && watches.isEmpty()) {
            byClaim.remove(watch.claimId());
        }
    }

    /** Queues the signals in the order of the decisions. Returns the watches to {@link #deliver} to. */
    List<SignalSink> enqueue(List<Push> pushes) {
        if (pushes.isEmpty()) {
            return List.of();
        }
        List<SignalSink> signalled = new ArrayList<>(pushes.size());
        for (Push push : pushes) {
            for (SignalSink watch : byClaim.getOrDefault(push.claimId(), List.of())) {
                watch.accept(push.signal());
                signalled.add(watch);
            }
        }
        return signalled;
    }

    /** On another thread: each waiter that releases at once grants the next one, and the stack would overflow. */
    void deliver(SignalSink watch) {
        if (watch.isDue()) {
            line.deliver(watch);
        }
    }

    List<String> contents() {
        return byClaim.keySet().stream().map("watch of claim %s"::formatted).toList();
    }

    List<SignalSink> clear() {
        List<SignalSink> all = byClaim.values().stream().flatMap(List::stream).toList();
        byClaim.clear();
        return all;
    }
}
