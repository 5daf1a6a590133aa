package io.holdfast.proof.hostile;

/**
 * A fault that was injected.
 *
 * @param fromNanos before it
 * @param toNanos when the world was as before, as far as that takes no time
 */
record Injected(FaultKind kind, long fromNanos, long toNanos) {}
