package io.holdfast.examples.fenced;

import reactor.core.publisher.Mono;

/** Takes the money. It must know an order by its id: one that was not sold after all is charged again when it comes again. */
@FunctionalInterface
interface Payments {

    Mono<Void> charge(Order order);
}
