package io.holdfast.proof.hostile;

/**
 * An injected fault.
 *
 * @param fromNanos before the injection
 * @param toNanos when the fault was repaired
 */
record Injected(FaultKind kind, long fromNanos, long toNanos) {}
