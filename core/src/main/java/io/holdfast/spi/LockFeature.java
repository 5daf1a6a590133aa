package io.holdfast.spi;

/** A feature that a back end may offer beyond an exclusive lock. */
public enum LockFeature {

    /** The back end serves waiters in order of arrival. */
    FIFO,

    /** The back end supports {@link LockKind#READ} and {@link LockKind#WRITE}. */
    READ_WRITE,

    /** The back end supports {@link LockKind#SEMAPHORE}. */
    SEMAPHORE,

    /** A claim of a semaphore may take several permits: the back end honours {@link LockClaim#permits()}. */
    MANY_PERMITS,

    /** The back end honours {@link LockClaim#tokenFloor()}. A member of a quorum needs it. */
    TOKEN_FLOOR,

    /**
     * The server keeps a claim until its lease ends, also when the client of the holder is gone, and a renewal sets a
     * new end, later or earlier. So {@link io.holdfast.LockOptions#minHoldTime()} works. A back end that ends all
     * claims of a client with its session does not have it.
     */
    MIN_HOLD,

    /** The back end supports {@link LockBackend#holders}. */
    HOLDERS,

    /**
     * Any client of the back end that knows a held claim may {@linkplain LockBackend#adopt adopt}, renew and release
     * it, not only the client that made it. So {@link io.holdfast.LockLease#export()} works. A back end that ties claims to the session, or to the memory, of
     * their client does not have it.
     */
    HAND_ON,

    /**
     * An attempt of {@link LockKind#READ} turns the claim that holds the lock as a writer into a reader, see
     * {@link LockBackend#tryAcquire}. So {@link io.holdfast.LockLease#downgrade()} works.
     */
    DOWNGRADE,

    /**
     * A server that restarts grants no lock that is still held: it keeps its locks, or it grants nothing for a while.
     * Members of a quorum need it. A back end over servers that may lose their locks has it only if its options say so.
     */
    SAFE_RESTART
}
