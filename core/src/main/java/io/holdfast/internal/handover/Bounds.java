package io.holdfast.internal.handover;

/**
 * How long one turn may last.
 *
 * @param mostHandOvers after the first owner
 * @param nanos looked at when the lock changes hands
 */
public record Bounds(int mostHandOvers, long nanos) {}
