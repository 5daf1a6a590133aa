package io.holdfast.r2dbc.internal.error;

import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** The server did not answer in time, or opened no connection in time. */
public final class NoAnswerException extends TimeoutException {

    private static final long serialVersionUID = 1L;

    private final long millis;

    public NoAnswerException(Duration limit) {
        super("no answer within %d ms".formatted(limit.toMillis()));
        millis = limit.toMillis();
    }

    long millis() {
        return millis;
    }
}
