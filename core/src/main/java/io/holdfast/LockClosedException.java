package io.holdfast;

import java.io.Serial;

/** The {@link LockClient} was closed, before the call or while it waited. */
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
}
