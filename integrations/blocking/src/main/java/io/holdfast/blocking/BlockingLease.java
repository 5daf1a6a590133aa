package io.holdfast.blocking;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;

/**
 * A lease for a try-with-resources statement. Its loss interrupts no thread: ask {@link LockLease#isValid()}, or use
 * {@link BlockingLock#withLock}. Thread-safe. Users do not implement this interface.
 */
public interface BlockingLease extends AutoCloseable {

    /** {@return the lease: its fencing token, whether it is valid, the signal of its loss} It cannot be downgraded. */
    LockLease lease();

    /**
     * Releases the lock, and waits for the confirmation, at most one operation timeout. An interrupt does not end the
     * wait, and stays pending. On a thread that must not block, the release begins, and the method returns. A second
     * call does nothing. Any thread may call it.
     *
     * @throws LockLostException if the lease was lost before
     */
    @Override
    void close();
}
