package io.holdfast;

import java.io.Serial;

/**
 * The {@link LockClient} was closed or {@linkplain LockClient#drain() drained}, before the call or during the wait: by
 * its owner, or because its timer was disposed. Also when the scheduler given to {@code deliverOn} was disposed: the
 * lease cannot be delivered and is released. Nothing is held.
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
        this(lockName, lockName.isEmpty() ? "is closed" : "was closed", "make a new one");
    }

    /**
     * Makes an exception for a client that cannot go on although its owner has not closed it; for the engine.
     *
     * @param lockName the lock of the acquisition; empty when the call concerned no single lock
     * @param why the reason, such as {@code its timer was disposed}
     */
    public LockClosedException(String lockName, String why) {
        this(lockName, "cannot go on because " + why, "make a new one");
    }

    private LockClosedException(String lockName, String what, String remedy) {
        super(
                lockName,
                lockName.isEmpty()
                        ? "the lock client %s; %s".formatted(what, remedy)
                        : "the lock client %s, so lock '%s' cannot be acquired; %s".formatted(what, lockName, remedy),
                null);
    }

    /**
     * {@return an exception for a client that drains; for the engine}
     *
     * @param lockName the lock of the acquisition; empty when the call concerned no single lock
     */
    public static LockClosedException draining(String lockName) {
        return new LockClosedException(lockName, "is being drained", "ask another instance");
    }
}
