package io.holdfast.examples.fenced;

import java.io.Serial;

final class OtherOrderException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    OtherOrderException(Order order) {
        super("the id %s was used for another order".formatted(order.id()));
    }
}
