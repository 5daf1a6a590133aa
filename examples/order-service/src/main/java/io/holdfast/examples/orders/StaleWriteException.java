package io.holdfast.examples.orders;

import java.io.Serial;

/** Somebody with a later lease has written: this one ended without its holder knowing. Nothing was changed. */
final class StaleWriteException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    StaleWriteException(String item, long fencingToken) {
        super("a later owner of %s than that with token %d has written".formatted(item, fencingToken));
    }
}
