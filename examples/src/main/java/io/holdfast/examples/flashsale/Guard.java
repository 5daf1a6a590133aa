package io.holdfast.examples.flashsale;

import io.holdfast.ReactiveLock;
import java.util.function.LongFunction;
import reactor.core.publisher.Mono;

/** Runs visits under the lock, or without a lock. */
@FunctionalInterface
interface Guard {

    /**
     * Runs a visit.
     *
     * @param visit gets the fencing token, 0 without a lock
     */
    Mono<Visit> around(LongFunction<Mono<Visit>> visit);

    /** Runs one visit at a time, over all shops. */
    static Guard by(ReactiveLock lock) {
        return visit -> lock.withLock(lease -> visit.apply(lease.fencingToken()));
    }

    /** Runs all visits at once, for {@code --without-lock}. */
    static Guard none() {
        return visit -> Mono.defer(() -> visit.apply(0));
    }
}
