package io.holdfast.testkit.history;

/**
 * A promise that was broken.
 *
 * @param check the name of the check that found it
 * @param message what happened, with the operations
 */
public record Violation(String check, String message) {

    @Override
    public String toString() {
        return check + ": " + message;
    }
}
