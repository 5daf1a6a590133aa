package io.holdfast.redlock.internal.quorum;

import java.io.Serial;
import java.time.Duration;

/** A master took longer than its time limit. Expected now and then, so it has no stack trace. */
public final class MasterTimeoutException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    public MasterTimeoutException(Duration limit) {
        super("no answer within %d ms".formatted(limit.toMillis()), null, false, false);
    }
}
