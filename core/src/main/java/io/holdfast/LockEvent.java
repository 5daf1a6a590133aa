package io.holdfast;

import java.time.Duration;
import java.util.Locale;

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

    /** {@return which acquisition of which lock the event is about} */
    Subject subject();

    /** {@return the name of the lock} */
    default String lockName() {
        return subject().lockName();
    }

    /**
     * Which acquisition of which lock an event is about: the same one for all events of an acquisition and of its hold.
     *
     * @param lockName the lock
     * @param kind how the lock was requested. It stays {@link LockKind#WRITE} when the writer becomes a reader
     * @param permits how many permits of a semaphore were requested; else 1
     * @param claimId the id of the claim, as inspectors and {@link ClientReport} show it. An acquisition gets a new claim
     *     in one case only: when its grant was over on arrival, it begins again
     */
    record Subject(String lockName, LockKind kind, int permits, String claimId) {

        @Override
        public String toString() {
            return "%s '%s', claim %s%s"
                    .formatted(
                            kind.name().toLowerCase(Locale.ROOT),
                            lockName,
                            claimId,
                            permits == 1 ? "" : ", %d permits".formatted(permits));
        }
    }

    /**
     * A subscriber has requested a lease; the client has sent nothing yet.
     *
     * @param subject the lock and the claim
     */
    record AcquireStarted(Subject subject) implements LockEvent {}

    /**
     * A lease was handed out.
     *
     * @param subject the lock and the claim
     * @param fencingToken its token
     * @param waited from subscription to emission
     * @param attempts how many attempts were sent
     */
    record Acquired(Subject subject, long fencingToken, Duration waited, int attempts) implements LockEvent {}

    /**
     * An attempt that does not wait did not get the lock: that of {@code tryAcquire}, of {@link LockClient#adopt}, or of
     * {@link LockClient#all}, which may then wait for it.
     *
     * @param subject the lock and the claim
     * @param waited from subscription to the answer
     */
    record NotAvailable(Subject subject, Duration waited) implements LockEvent {}

    /**
     * An acquisition ended with an error: timed out, closed, or the back end failed for too long.
     *
     * @param subject the lock and the claim
     * @param waited from subscription
     * @param attempts how many attempts were sent
     * @param error the error that the subscriber received
     */
    record AcquireFailed(Subject subject, Duration waited, int attempts, Throwable error) implements LockEvent {}

    /**
     * The subscriber cancelled before a lease was emitted; the client is withdrawing the claim.
     *
     * @param subject the lock and the claim
     * @param waited from subscription
     * @param attempts how many attempts were sent
     */
    record AcquireCancelled(Subject subject, Duration waited, int attempts) implements LockEvent {}

    /**
     * An attempt failed. The client sends another one, unless the acquisition ends with this failure.
     *
     * @param subject the lock and the claim
     * @param attempt the number of the attempt
     * @param error the failure
     */
    record AttemptFailed(Subject subject, int attempt, LockBackendException error) implements LockEvent {}

    /**
     * A renewal failed with an unknown outcome; the client repeats it until the local deadline.
     *
     * @param subject the lock and the claim
     * @param fencingToken the lease's token
     * @param remaining the time left until the local deadline
     * @param error the failure
     */
    record RenewalFailed(Subject subject, long fencingToken, Duration remaining, LockBackendException error)
            implements LockEvent {}

    /**
     * A lease was released, and the back end confirmed it.
     *
     * @param subject the lock and the claim
     * @param fencingToken its token
     * @param held from emission to the request of the release
     */
    record Released(Subject subject, long fencingToken, Duration held) implements LockEvent {}

    /**
     * The client could not confirm a release until the local deadline of the lease; the server frees the lock when the
     * lease ends there.
     *
     * @param subject the lock and the claim
     * @param fencingToken its token
     * @param held from emission to the request of the release
     * @param error the last failure
     */
    record ReleaseUnconfirmed(Subject subject, long fencingToken, Duration held, LockBackendException error)
            implements LockEvent {}

    /**
     * A lease ended before it was released.
     *
     * @param subject the lock and the claim
     * @param fencingToken its token
     * @param held from emission to the loss
     * @param error the error that a caller of this lease gets; its message says what happened, and its cause is the failure of
     *     the last renewal, if there was one
     */
    record Lost(Subject subject, long fencingToken, Duration held, LockLostException error) implements LockEvent {

        /** {@return why} */
        public LossReason reason() {
            return error.reason();
        }
    }

    /**
     * A lease was handed on by {@link LockLease#export()}: another process may hold the lock.
     *
     * @param subject the lock and the claim
     * @param fencingToken its token
     * @param held from emission to the hand-on
     */
    record HandedOn(Subject subject, long fencingToken, Duration held) implements LockEvent {}

    /**
     * A writer has become a reader by {@link LockLease#downgrade()}. Its hold goes on, and has one end: do not count it
     * up or down.
     *
     * @param subject the lock and the claim
     * @param fencingToken its token, which stays
     * @param held from emission of the write lease to that of the read lease
     */
    record Downgraded(Subject subject, long fencingToken, Duration held) implements LockEvent {}

    /**
     * The garbage collector found a lease that was handed out and not released: an operator dropped it. The client
     * releases it. It emits no further event for this lease, unless the release fails: {@link WithdrawalUnconfirmed}.
     *
     * @param subject the lock and the claim
     * @param fencingToken its token
     * @param held from emission to the discovery
     */
    record LeaseAbandoned(Subject subject, long fencingToken, Duration held) implements LockEvent {}

    /**
     * The client could not withdraw a claim without a subscriber, or could not release a lease that has ended on the
     * client; the server frees the lock when the lease ends there.
     *
     * @param subject the lock and the claim
     * @param error the last failure
     */
    record WithdrawalUnconfirmed(Subject subject, LockBackendException error) implements LockEvent {}
}
