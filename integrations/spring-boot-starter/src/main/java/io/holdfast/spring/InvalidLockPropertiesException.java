package io.holdfast.spring;

import java.io.Serial;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Properties of the application say too little about its locks, or too much, or what cannot be. Never has a password in it. */
final class InvalidLockPropertiesException extends RuntimeException {

    static final String CHOICES = "Set it to memory, redis, redlock, zookeeper or r2dbc.";

    @Serial
    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    InvalidLockPropertiesException(String problem, String remedy) {
        this(problem, remedy, null);
    }

    /**
     * With the error of the library.
     *
     * @param cause has no password in it, nor has its own cause
     */
    InvalidLockPropertiesException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem + " " + remedy, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** What the library says names its options, which are the properties' names, and their values. */
    static <T> T orRefused(Supplier<T> made) {
        return orRefused("holdfast", made);
    }

    /** The same, of those under a path. */
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
