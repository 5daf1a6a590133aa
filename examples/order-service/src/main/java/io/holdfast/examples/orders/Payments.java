package io.holdfast.examples.orders;

import reactor.core.publisher.Mono;

/** The payment service. */
@FunctionalInterface
interface Payments {

    /**
     * Takes the money of an order once, also if called again: it knows the order by its {@link Order#reference()}, and repeats its first answer.
     *
     * @return fails with {@link PaymentRefusedException} if the service took no money, and never will for this order. After any other failure
     *     the service may have taken the money
     */
    Mono<Void> charge(Order order);
}
