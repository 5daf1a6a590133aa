package io.holdfast.testkit.history;

/**
 * A broken promise.
 *
 * @param check the name of the check
 * @param message what happened, with the operations
 */
public record Violation(String check, String message) {

    @Override
    public String toString() {
        return check + ": " + message;
    }
}
