package io.holdfast.zookeeper;

import io.holdfast.LossReason;
import io.holdfast.spi.WatchSignal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.scheduler.Scheduler;

/** Who is told about which claim. Thread-safe. */
final class Signals {

    private final Map<String, List<FluxSink<WatchSignal>>> byClaim = new ConcurrentHashMap<>();
    private final MissedLosses missed = new MissedLosses();
    private final Scheduler deliverOn;

    Signals(Scheduler deliverOn) {
        this.deliverOn = deliverOn;
    }

    /** Armed from the start: each look of a claim sets the watch that it needs, and an interruption is signalled. */
    Flux<WatchSignal> of(String claimId) {
        return Flux.create(
                sink -> {
                    add(claimId, sink);
                    sink.onDispose(() -> remove(claimId, sink));
                    sink.next(new WatchSignal.Armed());
                    tellWhatWasMissed(claimId);
                },
                FluxSink.OverflowStrategy.BUFFER);
    }

    void changed(String claimId) {
        tell(claimId, new WatchSignal.Changed());
    }

    void changedAll() {
        byClaim.keySet().forEach(this::changed);
    }

    /** If nobody watches it, whoever watches it next is told. */
    void lost(String claimId, LossReason reason) {
        missed.add(claimId, reason);
        tellWhatWasMissed(claimId);
    }

    private void tellWhatWasMissed(String claimId) {
        if (isWatched(claimId)) {
            LossReason reason = missed.take(claimId);
            if (reason != null) {
                tell(claimId, new WatchSignal.Lost(reason));
            }
        }
    }

    boolean isWatched(String claimId) {
        return byClaim.containsKey(claimId);
    }

    /** It was released, or holds again: nobody needs to know any more. */
    void forget(String claimId) {
        LossReason unused = missed.take(claimId);
    }

    int count() {
        return byClaim.values().stream().mapToInt(List::size).sum();
    }

    void fail(RuntimeException error) {
        byClaim.values().forEach(sinks -> sinks.forEach(sink -> sink.error(error)));
    }

    private void add(String claimId, FluxSink<WatchSignal> sink) {
        byClaim.merge(
                claimId,
                List.of(sink),
                (before, added) ->
                        Stream.concat(before.stream(), added.stream()).toList());
    }

    private void remove(String claimId, FluxSink<WatchSignal> sink) {
        byClaim.computeIfPresent(claimId, (id, sinks) -> {
            List<FluxSink<WatchSignal>> rest =
                    sinks.stream().filter(it -> !it.equals(sink)).toList();
            return rest.isEmpty() ? null : rest;
        });
    }

    private void tell(String claimId, WatchSignal signal) {
        for (FluxSink<WatchSignal> sink : byClaim.getOrDefault(claimId, List.of())) {
            try {
                deliverOn.schedule(() -> sink.next(signal));
            } catch (RejectedExecutionException schedulerIsDisposed) {
                sink.next(signal);
            }
        }
    }
}
