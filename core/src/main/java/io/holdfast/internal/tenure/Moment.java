package io.holdfast.internal.tenure;

import java.util.List;

/** When a decision is made; it adds the actions besides its answer to {@code out}, in order. */
record Moment(long now, List<Effect> out) {}
