package io.holdfast.r2dbc.internal.postgresql;

/** A connection, or its database, cannot have locks. The message says what to do. */
final class UnusableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UnusableException(String message) {
        super(message);
    }
}
