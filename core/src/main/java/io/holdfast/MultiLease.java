package io.holdfast;

import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * What you hold of many locks: the lease of each. The loss of one is the loss of all: {@link #isValid()} is false from that instant.
 *
 * <p>Each lease is renewed by itself, and has a fencing token of its own: a write goes with the token of the lock that protects what is
 * written. When one is lost, the others stay held until {@link #release()}, or until a {@code withLock} has cancelled its work: no
 * other client gets them before the work can have stopped.
 *
 * <p>Thread-safe. Not for users to implement.
 */
public interface MultiLease {

    /**
     * The leases of all members.
     *
     * @return in the canonical order, see {@link ReactiveMultiLock}; unmodifiable. To release one of them by itself ends the validity of all
     */
    List<LockLease> leases();

    /**
     * The lease of one member.
     *
     * @param lockName its name, as given to the client
     * @return the lease; of the write side when both sides of a read/write lock were given
     * @throws IllegalArgumentException if no member has that name
     */
    LockLease of(String lockName);

    /**
     * Whether all are held at this instant.
     *
     * @return as {@link LockLease#isValid()}, of all of them
     */
    boolean isValid();

    /**
     * How long all are surely valid without another renewal.
     *
     * @return the least of {@link LockLease#remaining()}
     */
    Duration remaining();

    /**
     * Tells when the first of them is lost.
     *
     * @return hot, replays; the lease that was lost first; completes empty after a release of all. To a subscriber that comes after several
     *     were lost, the first in the canonical order. Signals as {@link LockLease#onLoss()} does. Cancelling it has no effect on the leases
     */
    Mono<LockLease> onLoss();

    /**
     * Gives all back, the last one first, without waiting for one before the next is sent. Lazy and idempotent, and not cancelled with
     * a subscription, as {@link LockLease#release()}.
     *
     * @return completes when the store has confirmed all, at the latest after one operation timeout. Fails with {@link LockLostException} when one
     *     was lost before; those of others are suppressed in it. The rest is released all the same
     */
    Mono<Void> release();
}
