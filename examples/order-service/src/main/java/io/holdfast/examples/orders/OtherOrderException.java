package io.holdfast.examples.orders;

import java.io.Serial;

final class OtherOrderException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    OtherOrderException(Order order, int quantity) {
        super("order %s was placed before, for %d of the item".formatted(order.reference(), quantity));
    }
}
