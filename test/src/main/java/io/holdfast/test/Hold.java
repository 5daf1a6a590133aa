package io.holdfast.test;

import static java.util.Objects.requireNonNull;

import io.holdfast.LossReason;

/**
 * A lock that the code under test holds now. The test can end or freeze the hold. {@link TestLocks#held} and
 * {@link TestLocks#onAcquired} give it.
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
     * Returns the name of the lock.
     *
     * @return the name as given by the code under test
     */
    public String lockName() {
        return claim.lockName();
    }

    /**
     * Returns the token of the code under test.
     *
     * @return the token of its lease
     */
    public long fencingToken() {
        return claim.token();
    }

    /**
     * Makes the code under test lose the lock, and signals the loss: its lease is not valid any more, {@code withLock}
     * cancels its work and fails with {@link io.holdfast.LockLostException}. The lock is free at once, or the next
     * waiter gets it. In {@link TestLocks#onAcquired}, the loss is signalled after the subscription to the work; in
     * real time, a millisecond after the client began to emit the lease, or a second later if the client reports no
     * events to the extension.
     *
     * @param reason the reason of the loss; not {@link LossReason#CLIENT_CLOSED}: close the client to test that
     * @throws IllegalStateException if the hold has ended
     * @throws IllegalArgumentException for {@code CLIENT_CLOSED}
     */
    public void lose(LossReason reason) {
        if (requireNonNull(reason, "reason") == LossReason.CLIENT_CLOSED) {
            throw new IllegalArgumentException("no back end signals CLIENT_CLOSED: close the client to test that");
        }
        store.lose(claim, reason);
    }

    /**
     * Ends the lease at the back end while the code under test is paused, as in a long pause of its JVM. Then the code
     * goes on: <em>its lease appears valid</em>, its renewals seem to succeed, and its work goes on, while a rival may
     * get the lock with the next token. So the resource must refuse a write of this work by its fencing token; see
     * {@link TestLocks#wrote} and {@link LockAssert#tokensRise}. The code detects the loss when it releases:
     * {@code withLock} fails with {@link io.holdfast.LockLostException} then.
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
