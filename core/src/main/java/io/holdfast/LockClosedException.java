package io.holdfast;

import java.io.Serial;

/** The {@link LockClient} was closed, before the call or while it waited: by its owner, or because its timer was disposed. */
public final class LockClosedException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Made by the engine.
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
     * Made by the engine, when the client had to close by itself.
     *
     * @param lockName the lock that was asked for; empty if it was none
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
