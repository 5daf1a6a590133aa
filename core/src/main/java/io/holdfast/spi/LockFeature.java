package io.holdfast.spi;

/** What a back end may offer beyond an exclusive lock. */
public enum LockFeature {

    /** Waiters are served first come, first served. */
    FIFO,

    /** {@link LockKind#READ} and {@link LockKind#WRITE} are supported. */
    READ_WRITE,

    /** {@link LockKind#SEMAPHORE} is supported. */
    SEMAPHORE,

    /** {@link LockClaim#tokenFloor()} is honoured. Needed of a member of a quorum. */
    TOKEN_FLOOR,

    /** {@link LockBackend#holders} is supported. */
    HOLDERS
}
