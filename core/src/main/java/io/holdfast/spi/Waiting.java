package io.holdfast.spi;

/** What the store does for a claim when the lock is not available. */
public enum Waiting {

    /** Nothing: just look. The claim leaves nothing behind. */
    NONE,

    /** Tells the claim's watch when it is worth looking again. A hint, not a place in a queue. */
    NOTIFY,

    /** Gives the claim a place in the queue, where the store has one; else the same as {@link #NOTIFY}. */
    QUEUE
}
