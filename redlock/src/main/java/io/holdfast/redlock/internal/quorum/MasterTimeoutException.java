package io.holdfast.redlock.internal.quorum;

import java.io.Serial;
import java.time.Duration;

/**
 * A master took longer than its time limit, or got no request because it did so before. Expected now and then, so it
 * has no stack trace.
 */
public final class MasterTimeoutException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    private MasterTimeoutException(String message) {
        super(message, null, false, false);
    }

    public static MasterTimeoutException after(Duration limit) {
        return new MasterTimeoutException("no answer within %d ms".formatted(limit.toMillis()));
    }

    public static MasterTimeoutException notSent() {
        return new MasterTimeoutException(
                "no request sent: the master left the last requests without an answer, and gets one every 100 ms");
    }
}
