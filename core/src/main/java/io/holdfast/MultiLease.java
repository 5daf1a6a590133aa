package io.holdfast;

import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The leases of several locks that were acquired together. The loss of one lease is the loss of all: {@link #isValid()}
 * is false from that instant.
 *
 * <p>The client renews each lease separately. Each has its own fencing token: send the token of the lock that protects
 * the data with a write. When one is lost, the others stay held until {@link #release()}, or until a {@code withLock}
 * has cancelled its work: no other client gets them before the work can stop.
 *
 * <p>Signals arrive as {@link ReactiveLock} says. Thread-safe. Users do not implement this interface.
 */
public interface MultiLease {

    /**
     * {@return the leases of all members, in the canonical order, see {@link ReactiveMultiLock}; unmodifiable} If you
     * release one of them, this multi-lease is no longer valid.
     */
    List<LockLease> leases();

    /**
     * {@return the lease of one member; that of the write side when both sides of a read/write lock were given}
     *
     * @param lockName its name, as given to the client
     * @throws IllegalArgumentException if no member has that name
     */
    LockLease lease(String lockName);

    /** {@return whether {@link LockLease#isValid()} is true for all leases} */
    boolean isValid();

    /** {@return the least {@link LockLease#remaining()} of all leases} */
    Duration remaining();

    /**
     * Signals the first loss of a lease.
     *
     * @return hot, replays; the lease that was lost first; completes empty after a release of all. After several
     *     losses, a later subscriber gets the first lost one in the canonical order. Signals as
     *     {@link LockLease#onLoss()} does. Cancelling it has no effect on the leases
     */
    Mono<LockLease> onLoss();

    /**
     * Releases all leases, the last one first, and sends each release without waiting for the one before. Lazy and
     * idempotent, and not cancelled with a subscription, like {@link LockLease#release()}.
     *
     * @return completes when the back end has confirmed all releases, at the latest after one operation timeout. Fails
     *     with {@link LockLostException} when a lease was lost before; further losses are suppressed in it. The client
     *     releases the rest all the same
     */
    Mono<Void> release();
}
