package io.holdfast.blocking;

import io.holdfast.LockLostException;
import io.holdfast.MultiLease;

/** Leases for a try-with-resources statement, as {@link BlockingLease}. Users do not implement this interface. */
public interface BlockingMultiLease extends AutoCloseable {

    /** {@return the leases} */
    MultiLease leases();

    /**
     * Releases all locks, as {@link BlockingLease#close()}.
     *
     * @throws LockLostException if a lease was lost before
     */
    @Override
    void close();
}
