package io.holdfast.blocking;

import io.holdfast.LockOptions;
import io.holdfast.ReactiveSemaphore;

/**
 * A lock with several permits, as {@link ReactiveSemaphore}. It is never re-entrant: each acquisition takes permits of
 * its own. Inside {@code withLock}, an acquisition that needs permits which that work holds would wait for itself, and
 * is an {@link IllegalStateException}. Permits of a {@link BlockingLease} do not count for that, since another thread
 * may return them. Users do not implement this interface.
 */
public interface BlockingSemaphore extends BlockingLock {

    @Override
    BlockingSemaphore with(LockOptions options);

    /**
     * Returns the same semaphore with another number of permits for each lease.
     *
     * @param taken the number, from 1 to the permits of this semaphore
     * @return a lock with the options of this semaphore
     * @throws IllegalArgumentException as {@link ReactiveSemaphore#permits}
     * @throws UnsupportedOperationException as {@link ReactiveSemaphore#permits}
     */
    BlockingLock permits(int taken);
}
