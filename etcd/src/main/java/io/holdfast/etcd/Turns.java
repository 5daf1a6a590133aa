package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/** Requests for one line, one after the other: the driver does not keep their order. */
final class Turns {

    private final Map<ByteSequence, Sinks.Empty<Void>> last = new ConcurrentHashMap<>();
    private final Scheduler scheduler;

    Turns(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    <T> Mono<T> inTurn(ByteSequence line, Mono<T> request) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> mine = Sinks.empty();
            Sinks.Empty<Void> before = last.put(line, mine);
            if (before == null) {
                return request.doFinally(end -> over(line, mine));
            }
            // A request that is cancelled before its turn does not let the next one pass those before it.
            return before.asMono().then(request).doFinally(end -> {
                var unused = before.asMono()
                        .publishOn(scheduler)
                        .subscribe(nothing -> {}, error -> {}, () -> over(line, mine));
            });
        });
    }

    private void over(ByteSequence line, Sinks.Empty<Void> mine) {
        boolean unused = last.remove(line, mine);
        mine.tryEmitEmpty();
    }
}
