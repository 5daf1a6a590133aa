package io.holdfast.examples.orders;

import java.io.Serial;

/** A later owner of the lock has claimed the stock: this lease ended, and its holder did not notice. Nothing was changed. */
final class StaleLeaseException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    StaleLeaseException(String item, long fencingToken) {
        super("an owner of %s with a higher token than %d has claimed it".formatted(item, fencingToken));
    }
}
