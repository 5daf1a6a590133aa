package io.holdfast.examples.orders;

import reactor.core.publisher.Mono;

/** The payment service. */
@FunctionalInterface
interface Payments {

    /**
     * Takes the money of an order once, however often it is asked: it knows the order by its {@link Order#reference()}, and repeats its first answer.
     *
     * @return fails with {@link PaymentRefusedException} if no money was taken, and none will be for this order. After any other failure
     *     the money may have been taken
     */
    Mono<Void> charge(Order order);
}
