package io.holdfast.examples.fenced;

import java.io.Serial;

final class SoldOutException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    SoldOutException(Order order) {
        super("fewer than %d of %s are left".formatted(order.quantity(), order.item()));
    }
}
