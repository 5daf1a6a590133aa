package io.holdfast.spi;

/** The answer to {@link LockBackend#release}: whether that request ended a held claim. */
public enum Ownership {

    /** The claim held the lock until this request. */
    HELD,

    /** The claim did not hold the lock: it was queued, unknown, lost, or released before. */
    NOT_HELD
}
