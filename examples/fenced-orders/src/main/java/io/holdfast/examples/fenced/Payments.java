package io.holdfast.examples.fenced;

import reactor.core.publisher.Mono;

/** The payment service. */
@FunctionalInterface
interface Payments {

    /**
     * Takes the money of an order once, however often it is asked: it knows the order by its id, and repeats its first answer.
     *
     * @return fails with {@link PaymentRefusedException} if no money was taken, and none will be for this order. After any other failure
     *     the money may have been taken
     */
    Mono<Void> charge(Order order);
}
