package io.holdfast.test;

import static java.util.Objects.requireNonNull;

import io.holdfast.LossReason;

/**
 * A lock that the code under test holds now: what may happen to it. From {@link TestLocks#held} or {@link TestLocks#onAcquired}.
 *
 * <p>Thread-safe.
 */
public final class Hold {

    private final TestStore store;
    private final SeenClaim claim;

    Hold(TestStore store, SeenClaim claim) {
        this.store = store;
        this.claim = claim;
    }

    /**
     * The lock's name.
     *
     * @return as the code under test has given it
     */
    public String lockName() {
        return claim.lockName();
    }

    /**
     * The token of the code under test.
     *
     * @return as its lease says
     */
    public long fencingToken() {
        return claim.token();
    }

    /**
     * The code under test loses the lock, and is told: its lease is not valid any more, {@code withLock} cancels its work and fails with
     * {@link io.holdfast.LockLostException}. The lock is free, or the next waiter's, at once. In {@link TestLocks#onAcquired}, the loss is told when
     * the work has been subscribed to; in real time, a millisecond after the client began to hand over the lease.
     *
     * @param reason what the code is told; not {@link LossReason#CLIENT_CLOSED}: close the client to test that
     * @throws IllegalStateException if the hold has ended
     * @throws IllegalArgumentException for {@code CLIENT_CLOSED}
     */
    public void lose(LossReason reason) {
        if (requireNonNull(reason, "reason") == LossReason.CLIENT_CLOSED) {
            throw new IllegalArgumentException(
                    "no store tells a client that it was closed: close the client to test that");
        }
        store.lose(claim, reason);
    }

    /**
     * The lease runs out at the store while the code under test stands still, as in a long pause of its JVM, and then goes on: <em>its
     * lease believes itself valid</em>, its renewals seem to succeed, and its work goes on, while a rival may get the lock with the next token. So a write
     * of this work must be refused by its fencing token; see {@link TestLocks#wrote} and {@link LockAssert#tokensRise}. The code learns the truth when
     * it releases: {@code withLock} fails with {@link io.holdfast.LockLostException} then.
     *
     * @throws IllegalStateException if the hold has ended
     */
    public void freeze() {
        store.freeze(claim);
    }

    @Override
    public String toString() {
        return "Hold[%s]".formatted(claim);
    }
}
