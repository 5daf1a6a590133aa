package io.holdfast.internal.memory;

import java.util.List;

/**
 * What a request came to.
 *
 * @param answer for the one who asked
 * @param pushes for others, in order
 * @param <A> the kind of answer
 */
public record Outcome<A>(A answer, List<Push> pushes) {}
