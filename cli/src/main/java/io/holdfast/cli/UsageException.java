package io.holdfast.cli;

/** The command line is wrong. The message says how to write it. It repeats no secret. */
final class UsageException extends RuntimeException {

    private static final long serialVersionUID = 1;

    UsageException(String message) {
        super(message, null, false, false);
    }
}
