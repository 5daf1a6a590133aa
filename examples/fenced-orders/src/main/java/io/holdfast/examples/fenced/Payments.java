package io.holdfast.examples.fenced;

import reactor.core.publisher.Mono;

/** The payment service. */
@FunctionalInterface
interface Payments {

    /**
     * Takes the money of an order once, also if called again: the payment service knows the order by its id, and repeats its first answer.
     *
     * @return fails with {@link PaymentRefusedException} if the service took no money, and never will for this order. After any other failure
     *     the service may have taken the money
     */
    Mono<Void> charge(Order order);
}
