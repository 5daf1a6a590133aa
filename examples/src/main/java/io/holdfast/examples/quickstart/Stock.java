package io.holdfast.examples.quickstart;

import reactor.core.publisher.Mono;

/** Something worth a lock. */
@FunctionalInterface
interface Stock {

    /**
     * Sells one item: reads the amount, thinks, writes the amount. Refuses a token lower than the highest it has seen.
     *
     * @return what is left
     */
    Mono<Integer> sell(int item, long fencingToken);
}
