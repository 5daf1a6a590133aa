package io.holdfast.examples.orders;

import java.io.Serial;

/** A later owner of the lock has claimed the stock: this lease ended without its holder knowing. Nothing was changed. */
final class StaleLeaseException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    StaleLeaseException(String item, long fencingToken) {
        super("a later owner of %s than that with token %d has claimed it".formatted(item, fencingToken));
    }
}
