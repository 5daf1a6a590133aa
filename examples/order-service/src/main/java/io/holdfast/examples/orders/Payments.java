package io.holdfast.examples.orders;

import reactor.core.publisher.Mono;

/** Who is asked for the money. */
@FunctionalInterface
interface Payments {

    Mono<Void> charge(Order order);
}
