package io.holdfast.internal.handover;

/**
 * The bounds of one turn.
 *
 * @param mostHandOvers the most hand-overs after the first owner
 * @param nanos the longest time, checked when the lock changes hands
 */
public record Bounds(int mostHandOvers, long nanos) {}
