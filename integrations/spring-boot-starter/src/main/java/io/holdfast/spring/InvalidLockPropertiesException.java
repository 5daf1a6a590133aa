package io.holdfast.spring;

import java.io.Serial;
import java.util.function.Supplier;

/** Properties of the application say too little about its locks, or too much, or what cannot be. Never has a password in it. */
final class InvalidLockPropertiesException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    InvalidLockPropertiesException(String problem, String remedy) {
        super(problem + " " + remedy);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** What the library says names its options, which are the properties' names, and their values. */
    static <T> T orRefused(Supplier<T> made) {
        try {
            return made.get();
        } catch (IllegalArgumentException refusal) {
            throw new InvalidLockPropertiesException(
                    "The properties under holdfast do not fit: %s.".formatted(refusal.getMessage()),
                    "Change one of them, or the customizer that set it.");
        }
    }

    String problem() {
        return problem;
    }

    String remedy() {
        return remedy;
    }
}
