package io.holdfast.examples.flashsale;

import io.holdfast.ReactiveLock;
import java.util.function.LongFunction;
import reactor.core.publisher.Mono;

/** What surrounds a visit: the lock, or nothing. */
@FunctionalInterface
interface Guard {

    /**
     * Runs a visit.
     *
     * @param visit from the fencing token, 0 for none
     */
    Mono<Visit> around(LongFunction<Mono<Visit>> visit);

    /** One visit at a time, in all shops together. */
    static Guard by(ReactiveLock lock) {
        return visit -> lock.withLock(lease -> visit.apply(lease.fencingToken()));
    }

    /** All visits at once: what {@code --without-lock} shows. */
    static Guard none() {
        return visit -> Mono.defer(() -> visit.apply(0));
    }
}
