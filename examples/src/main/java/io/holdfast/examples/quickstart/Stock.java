package io.holdfast.examples.quickstart;

import reactor.core.publisher.Mono;

/** Something worth a lock. */
@FunctionalInterface
interface Stock {

    /**
     * Sells one item: reads the amount and leaves the token, unless a higher one is there; thinks; writes the amount, if the token is
     * still there.
     *
     * @return what is left
     */
    Mono<Integer> sell(int item, long fencingToken);
}
