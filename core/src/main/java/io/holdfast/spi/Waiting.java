package io.holdfast.spi;

/** What the back end does for a claim when the lock is not available. */
public enum Waiting {

    /** Nothing but the attempt itself. The claim leaves nothing behind. */
    NONE,

    /**
     * Signals the claim's watch when another attempt may succeed. This is a hint, not a place in a queue. Only the back
     * ends of a quorum get such claims, so without {@link LockFeature#TOKEN_FLOOR} it may be the same as {@link #NONE}.
     */
    NOTIFY,

    /** Gives the claim a place in the queue, if the back end has queues; else signals its watch as with {@link #NOTIFY}. */
    QUEUE
}
