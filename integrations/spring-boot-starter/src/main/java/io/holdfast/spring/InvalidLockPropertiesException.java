package io.holdfast.spring;

import java.io.Serial;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The properties of the application about its locks are incomplete, contradictory or invalid. The message never contains a password. */
final class InvalidLockPropertiesException extends RuntimeException {

    static final String CHOICES = "Set it to memory, redis, redlock, zookeeper, etcd or r2dbc.";

    @Serial
    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    InvalidLockPropertiesException(String problem, String remedy) {
        this(problem, remedy, null);
    }

    /**
     * Creates the exception with an error of the library as the cause.
     *
     * @param cause must not contain a password, nor must its own cause
     */
    InvalidLockPropertiesException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem + " " + remedy, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /**
     * Turns an error of the library into this exception. Its message names options, which are also the names of properties, and their
     * values.
     */
    static <T> T orRefused(Supplier<T> made) {
        return orRefused("holdfast", made);
    }

    /** Does the same for the properties under a path. */
    static <T> T orRefused(String path, Supplier<T> made) {
        try {
            return made.get();
        } catch (IllegalArgumentException | UnsupportedOperationException refusal) {
            throw new InvalidLockPropertiesException(
                    "The properties under %s do not fit: %s.".formatted(path, refusal.getMessage()),
                    "Change one of them, or the customizer that set it.",
                    refusal);
        }
    }

    String problem() {
        return problem;
    }

    String remedy() {
        return remedy;
    }
}
