package io.holdfast;

import java.io.Serial;

/**
 * The {@link LockClient} was closed, before the call or during the wait: by its owner, or because its timer was
 * disposed.
 */
public final class LockClosedException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception; for the engine.
     *
     * @param lockName the lock; empty when the call concerned no single lock
     */
    public LockClosedException(String lockName) {
        super(
                lockName,
                lockName.isEmpty()
                        ? "the lock client is closed; make a new one"
                        : "the lock client was closed, so lock '%s' cannot be acquired; make a new one"
                                .formatted(lockName),
                null);
    }

    /**
     * Makes an exception for a client that had to close by itself; for the engine.
     *
     * @param lockName the lock of the acquisition; empty when the call concerned no single lock
     * @param why the reason, such as {@code its timer was disposed}
     */
    public LockClosedException(String lockName, String why) {
        super(
                lockName,
                lockName.isEmpty()
                        ? "the lock client was closed because %s; make a new one".formatted(why)
                        : "the lock client was closed because %s, so lock '%s' cannot be acquired; make a new one"
                                .formatted(why, lockName),
                null);
    }
}
