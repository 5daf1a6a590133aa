package io.holdfast.examples.fenced;

import java.io.Serial;

final class PaymentRefusedException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    PaymentRefusedException(Order order) {
        super("the payment of order %s was refused".formatted(order.id()));
    }
}
