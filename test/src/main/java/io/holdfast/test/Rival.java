package io.holdfast.test;

import io.holdfast.spi.LockClaim;

/**
 * Another process that holds a lock; {@link TestLocks#holdElsewhere} and its neighbours give it. It holds until it is
 * released or the test ends, however much time passes. {@link TestLocks#unavailable} does not affect it.
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
     * Returns the name of the lock.
     *
     * @return the name as given by the test
     */
    public String lockName() {
        return claim.key().name();
    }

    /**
     * Returns the rival's token: a later owner of the lock gets a greater one.
     *
     * @return greater than the tokens of all earlier owners
     */
    public long fencingToken() {
        return fencingToken;
    }

    /**
     * Releases the lock; the first waiter gets it. Idempotent. In virtual time, the waiter has it when this returns.
     */
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
