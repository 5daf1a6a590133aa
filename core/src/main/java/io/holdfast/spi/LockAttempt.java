package io.holdfast.spi;

import java.time.Duration;

/** The answer to {@link LockBackend#tryAcquire}. */
public sealed interface LockAttempt {

    /**
     * The claim holds the lock.
     *
     * @param fencingToken greater than 0; greater than that of every earlier exclusive owner of the same lock
     * @param lease the server keeps the lock at least this long, counted from the moment it processed the request
     */
    record Acquired(long fencingToken, Duration lease) implements LockAttempt {}

    /**
     * A run has the lock, and the claim is one of its members. Only a back end with {@link LockFeature#RUNS} answers
     * this, and only to a claim with a {@linkplain LockClaim#client() client}.
     *
     * @param run the run; the answer to a repeated attempt is the same run
     * @param lease as in {@link Acquired}, for the run
     */
    record AcquiredRun(LockRun run, Duration lease) implements LockAttempt {}

    /**
     * The lock is not available, and the claim has no place in a queue.
     *
     * @param nextAttemptWithin the longest useful pause without a signal; less than 1 ms counts as 1 ms
     */
    record Contended(Duration nextAttemptWithin) implements LockAttempt {}

    /**
     * The lock is not available; the claim has a place in the queue, and keeps it if its next attempt arrives in time.
     *
     * @param nextAttemptWithin the longest pause before the next attempt; less than 1 ms counts as 1 ms
     */
    record Queued(Duration nextAttemptWithin) implements LockAttempt {}
}
