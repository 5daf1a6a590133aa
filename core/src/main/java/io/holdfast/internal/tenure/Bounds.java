package io.holdfast.internal.tenure;

/** The most claims of a tenure after the first owner, and its longest time, checked when the lock changes hands. */
public record Bounds(int maxHandOvers, long nanos) {}
