package io.holdfast.spring;

import java.io.Serial;
import java.lang.reflect.Method;

/** A method with {@link Locked} cannot run under a lock in the way of the annotation. */
final class InvalidLockedMethodException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    InvalidLockedMethodException(Method method, String problem, String remedy) {
        this("@Locked on %s: %s.".formatted(text(method), problem), remedy);
    }

    private InvalidLockedMethodException(String problem, String remedy) {
        super(problem + " " + remedy);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** Returns the name of the method without its parameters. */
    static String text(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    String problem() {
        return problem;
    }

    String remedy() {
        return remedy;
    }
}
