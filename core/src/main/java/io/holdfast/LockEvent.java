package io.holdfast;

import java.time.Duration;

/**
 * What may happen to a lock. Durations are measured on the client's monotonic clock.
 *
 * <p><b>What begins, ends once.</b> Each {@link AcquireStarted} is followed by exactly one of {@link Acquired}, {@link NotAvailable},
 * {@link AcquireFailed} and {@link AcquireCancelled}; each {@code Acquired} by exactly one of {@link Released},
 * {@link ReleaseUnconfirmed}, {@link Lost}, {@link HandedOn} and {@link LeaseAbandoned}. So counting them up and down gives how many wait and how many
 * hold. Nested views of a lease, and acquisitions that are refused before they begin, have no events.
 *
 * <p>New kinds may be added in minor versions: a {@code switch} over events should have a {@code default}.
 */
public sealed interface LockEvent {

    /**
     * The lock that this is about.
     *
     * @return its name
     */
    String lockName();

    /**
     * A subscriber has asked for a lease; nothing was sent yet.
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
     * {@code tryAcquire} found the lock taken.
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
     * @param error what its subscriber was told
     */
    record AcquireFailed(String lockName, Duration waited, int attempts, Throwable error) implements LockEvent {}

    /**
     * The subscriber left before a lease was emitted; the claim is being withdrawn.
     *
     * @param lockName the lock
     * @param waited from subscription
     * @param attempts how many attempts were sent
     */
    record AcquireCancelled(String lockName, Duration waited, int attempts) implements LockEvent {}

    /**
     * An attempt failed. It is repeated, unless the acquisition ends with it.
     *
     * @param lockName the lock
     * @param attempt the number of the attempt
     * @param error the failure
     */
    record AttemptFailed(String lockName, int attempt, LockBackendException error) implements LockEvent {}

    /**
     * A renewal failed with an unknown outcome; it is tried again until the local deadline.
     *
     * @param lockName the lock
     * @param fencingToken the lease's token
     * @param remaining what is left until the local deadline
     * @param error the failure
     */
    record RenewalFailed(String lockName, long fencingToken, Duration remaining, LockBackendException error)
            implements LockEvent {}

    /**
     * A lease was released, and the store confirmed it.
     *
     * @param lockName the lock
     * @param fencingToken its token
     * @param held from emission to the request of the release
     */
    record Released(String lockName, long fencingToken, Duration held) implements LockEvent {}

    /**
     * A release could not be confirmed until the lease's local deadline; the store frees the lock when the lease ends there.
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
    record Lost(String lockName, long fencingToken, LossReason reason, Duration held, String why) implements LockEvent {

        /**
         * Where no more is known than the reason.
         *
         * @param lockName the lock
         * @param fencingToken its token
         * @param reason why
         * @param held from emission to the loss
         */
        public Lost(String lockName, long fencingToken, LossReason reason, Duration held) {
            this(lockName, fencingToken, reason, held, reason.why());
        }
    }

    /**
     * A lease was handed on by {@link LockLease#export()}: another process may hold it.
     *
     * @param lockName the lock
     * @param fencingToken its token
     * @param held from emission to that
     */
    record HandedOn(String lockName, long fencingToken, Duration held) implements LockEvent {}

    /**
     * A writer has become a reader by {@link LockLease#downgrade()}. Its hold goes on, and has one end: nothing is counted up or down.
     *
     * @param lockName the lock
     * @param fencingToken its token, which stays
     * @param held from emission of the write lease to that of the read lease
     */
    record Downgraded(String lockName, long fencingToken, Duration held) implements LockEvent {}

    /**
     * A handed-out lease was garbage collected without having been released: an operator dropped it. It is being released; nothing
     * more is told of it, unless that fails: {@link WithdrawalUnconfirmed}.
     *
     * @param lockName the lock
     * @param fencingToken its token
     * @param held from emission to the finding
     */
    record LeaseAbandoned(String lockName, long fencingToken, Duration held) implements LockEvent {}

    /**
     * A claim that nobody waits for any more could not be withdrawn, or a lease that had ended here could not be released; the store
     * frees it when its lease ends there.
     *
     * @param lockName the lock
     * @param error the last failure
     */
    record WithdrawalUnconfirmed(String lockName, LockBackendException error) implements LockEvent {}
}
