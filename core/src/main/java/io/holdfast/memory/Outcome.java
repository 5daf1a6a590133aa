package io.holdfast.memory;

import java.util.List;

/**
 * The result of a request.
 *
 * @param answer the answer to the caller
 * @param pushes signals for other claims, in order
 * @param <A> the type of the answer
 */
public record Outcome<A>(A answer, List<Push> pushes) {}
