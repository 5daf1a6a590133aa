package io.holdfast.proof.hostile;

/**
 * A time in which the back end may forget what it has granted, by design: see {@link Deployment#gaps}.
 *
 * @param fromNanos before anything was done
 * @param toNanos when what was forgotten could no longer be granted or renewed
 */
record Gap(long fromNanos, long toNanos) {}
