package io.holdfast.spi;

/** What a back end may offer beyond an exclusive lock. */
public enum LockFeature {

    /** Waiters are served first come, first served. */
    FIFO,

    /** {@link LockKind#READ} and {@link LockKind#WRITE} are supported. */
    READ_WRITE,

    /** {@link LockKind#SEMAPHORE} is supported. */
    SEMAPHORE,

    /** A claim of a semaphore may take several permits: {@link LockClaim#permits()} is honoured. */
    MANY_PERMITS,

    /** {@link LockClaim#tokenFloor()} is honoured. Needed of a member of a quorum. */
    TOKEN_FLOOR,

    /**
     * The store keeps a claim until its lease ends, also when the client that holds it is gone, and a renewal sets that end anew, later or
     * earlier. So {@link io.holdfast.LockOptions#minHoldTime()} can be kept. A store that ends all claims of a client with its session cannot.
     */
    MIN_HOLD,

    /** {@link LockBackend#holders} is supported. */
    HOLDERS,

    /**
     * Any client of the store that knows a held claim may renew and release it, also one that has not made it. So {@link
     * io.holdfast.LockLease#export()} is possible. A store that ties claims to the session, or to the memory, of their client does not have it.
     */
    HAND_ON,

    /**
     * An attempt of {@link LockKind#READ} makes a reader of the claim that holds the lock for writing, see {@link LockBackend#tryAcquire}. So
     * {@link io.holdfast.LockLease#downgrade()} is possible.
     */
    DOWNGRADE
}
