package io.holdfast;

import java.time.Duration;

/**
 * An event in the life of a lock. The client's monotonic clock measures all durations.
 *
 * <p><b>Each beginning has one end.</b> Each {@link AcquireStarted} is followed by exactly one of {@link Acquired},
 * {@link NotAvailable}, {@link AcquireFailed} and {@link AcquireCancelled}; each {@code Acquired} by exactly one of
 * {@link Released}, {@link ReleaseUnconfirmed}, {@link Lost}, {@link HandedOn} and {@link LeaseAbandoned}. So you can
 * count the waiters and the holders up and down. Nested views of a lease, and acquisitions that are refused before they
 * begin, have no events.
 *
 * <p>Minor versions may add new kinds: a {@code switch} over events should have a {@code default}. They
 * may add components: read those of an event by its accessors.
 */
public sealed interface LockEvent {

    /** {@return the name of the lock} */
    String lockName();

    /**
     * A subscriber has requested a lease; the client has sent nothing yet.
     *
     * @param lockName the lock
     */
    record AcquireStarted(String lockName) implements LockEvent {}

    /**
     * A lease was handed out.
     *
     * @param lockName the lock
     * @param fencingToken its token
     * @param waited from subscription to emission
     * @param attempts how many attempts were sent
     */
    record Acquired(String lockName, long fencingToken, Duration waited, int attempts) implements LockEvent {}

    /**
     * An attempt that does not wait did not get the lock: that of {@code tryAcquire}, of {@link LockClient#adopt}, or of
     * {@link LockClient#all}, which may then wait for it.
     *
     * @param lockName the lock
     * @param waited from subscription to the answer
     */
    record NotAvailable(String lockName, Duration waited) implements LockEvent {}

    /**
     * An acquisition ended with an error: timed out, closed, or the back end failed for too long.
     *
     * @param lockName the lock
     * @param waited from subscription
     * @param attempts how many attempts were sent
     * @param error the error that the subscriber received
     */
    record AcquireFailed(String lockName, Duration waited, int attempts, Throwable error) implements LockEvent {}

    /**
     * The subscriber cancelled before a lease was emitted; the client is withdrawing the claim.
     *
     * @param lockName the lock
     * @param waited from subscription
     * @param attempts how many attempts were sent
     */
    record AcquireCancelled(String lockName, Duration waited, int attempts) implements LockEvent {}

    /**
     * An attempt failed. The client sends another one, unless the acquisition ends with this failure.
     *
     * @param lockName the lock
     * @param attempt the number of the attempt
     * @param error the failure
     */
    record AttemptFailed(String lockName, int attempt, LockBackendException error) implements LockEvent {}

    /**
     * A renewal failed with an unknown outcome; the client repeats it until the local deadline.
     *
     * @param lockName the lock
     * @param fencingToken the lease's token
     * @param remaining the time left until the local deadline
     * @param error the failure
     */
    record RenewalFailed(String lockName, long fencingToken, Duration remaining, LockBackendException error)
            implements LockEvent {}

    /**
     * A lease was released, and the back end confirmed it.
     *
     * @param lockName the lock
     * @param fencingToken its token
     * @param held from emission to the request of the release
     */
    record Released(String lockName, long fencingToken, Duration held) implements LockEvent {}

    /**
     * The client could not confirm a release until the local deadline of the lease; the server frees the lock when the
     * lease ends there.
     *
     * @param lockName the lock
     * @param fencingToken its token
     * @param held from emission to the request of the release
     * @param error the last failure
     */
    record ReleaseUnconfirmed(String lockName, long fencingToken, Duration held, LockBackendException error)
            implements LockEvent {}

    /**
     * A lease ended before it was released.
     *
     * @param lockName the lock
     * @param fencingToken its token
     * @param reason why
     * @param held from emission to the loss
     * @param why what happened, in words, with the failure of the last renewal if there was one
     */
    record Lost(String lockName, long fencingToken, LossReason reason, Duration held, String why)
            implements LockEvent {}

    /**
     * A lease was handed on by {@link LockLease#export()}: another process may hold the lock.
     *
     * @param lockName the lock
     * @param fencingToken its token
     * @param held from emission to the hand-on
     */
    record HandedOn(String lockName, long fencingToken, Duration held) implements LockEvent {}

    /**
     * A writer has become a reader by {@link LockLease#downgrade()}. Its hold goes on, and has one end: do not count it
     * up or down.
     *
     * @param lockName the lock
     * @param fencingToken its token, which stays
     * @param held from emission of the write lease to that of the read lease
     */
    record Downgraded(String lockName, long fencingToken, Duration held) implements LockEvent {}

    /**
     * The garbage collector found a lease that was handed out and not released: an operator dropped it. The client
     * releases it. It emits no further event for this lease, unless the release fails: {@link WithdrawalUnconfirmed}.
     *
     * @param lockName the lock
     * @param fencingToken its token
     * @param held from emission to the discovery
     */
    record LeaseAbandoned(String lockName, long fencingToken, Duration held) implements LockEvent {}

    /**
     * The client could not withdraw a claim without a subscriber, or could not release a lease that has ended on the
     * client; the server frees the lock when the lease ends there.
     *
     * @param lockName the lock
     * @param error the last failure
     */
    record WithdrawalUnconfirmed(String lockName, LockBackendException error) implements LockEvent {}
}
