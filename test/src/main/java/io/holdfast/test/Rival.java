package io.holdfast.test;

import io.holdfast.spi.LockClaim;

/**
 * Another process that holds a lock, from {@link TestLocks#holdElsewhere} and its neighbours. It holds until it is released or the test ends, whatever time
 * passes, and does not notice when the store is {@link TestLocks#unavailable}.
 *
 * <p>Thread-safe.
 */
public final class Rival {

    private final TestStore store;
    private final LockClaim claim;
    private final long fencingToken;

    Rival(TestStore store, LockClaim claim, long fencingToken) {
        this.store = store;
        this.claim = claim;
        this.fencingToken = fencingToken;
    }

    /**
     * The lock's name.
     *
     * @return as given
     */
    public String lockName() {
        return claim.key().name();
    }

    /**
     * The rival's token: a later owner of the lock gets a greater one.
     *
     * @return greater than those of all owners before
     */
    public long fencingToken() {
        return fencingToken;
    }

    /** Gives the lock back; the first waiter gets it. Idempotent. In virtual time, the waiter has it when this returns. */
    public void release() {
        store.release(this);
    }

    LockClaim claim() {
        return claim;
    }

    @Override
    public String toString() {
        return "Rival['%s' with token %d]".formatted(lockName(), fencingToken);
    }
}
