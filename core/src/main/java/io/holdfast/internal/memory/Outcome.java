package io.holdfast.internal.memory;

import java.util.List;

/** The answer to a request, and the signals for other claims, in order. */
public record Outcome<A>(A answer, List<Push> pushes) {}
