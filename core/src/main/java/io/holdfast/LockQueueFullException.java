package io.holdfast;

import java.io.Serial;

/**
 * Too many wait already, so this acquisition was refused before it took a place. Nothing is held, and no place in a queue is kept. The
 * message says which limit it was: that of the client ({@link LockClient.Builder#maxWaiters}) or one of the store.
 *
 * <p>The lock itself may be healthy. Shed load, or answer 503 or 429 of HTTP; an attempt that follows at once meets the same queue.
 */
public final class LockQueueFullException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final int limit;

    /**
     * Made by the engine and by back ends.
     *
     * @param lockName the lock
     * @param limit how many may wait
     * @param message which lock, which limit, and what to do
     */
    public LockQueueFullException(String lockName, int limit, String message) {
        super(lockName, message, null);
        this.limit = limit;
    }

    /**
     * The limit that was met.
     *
     * @return how many may wait
     */
    public int limit() {
        return limit;
    }
}
