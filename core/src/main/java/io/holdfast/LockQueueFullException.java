package io.holdfast;

import java.io.Serial;

/**
 * Too many claims wait already, so the acquisition was refused before it took a place in the queue. The acquisition
 * holds nothing, and has no place in a queue. The message says which limit was reached: that of the client
 * ({@link LockClient.Builder#maxWaiters}) or one of the back end.
 *
 * <p>The lock itself may work well. Shed load, or answer with HTTP status 503 or 429; an attempt right after this one
 * meets the same queue.
 */
public final class LockQueueFullException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final int limit;

    /**
     * Makes an exception; for the engine and for back ends.
     *
     * @param lockName the lock
     * @param limit how many claims may wait
     * @param message which lock, which limit, and what to do
     */
    public LockQueueFullException(String lockName, int limit, String message) {
        super(lockName, message, null);
        this.limit = limit;
    }

    /** {@return how many claims may wait} */
    public int limit() {
        return limit;
    }
}
