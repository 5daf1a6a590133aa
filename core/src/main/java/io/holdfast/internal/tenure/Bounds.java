package io.holdfast.internal.tenure;

/**
 * The bounds of one tenure.
 *
 * @param mostHandOvers the most claims after the first owner
 * @param nanos the longest time, checked when the lock changes hands
 */
public record Bounds(int mostHandOvers, long nanos) {}
