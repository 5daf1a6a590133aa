package io.holdfast.blocking;

import io.holdfast.LockLease;
import org.jspecify.annotations.Nullable;

/**
 * Work under a lock. It may block, and may throw any exception.
 *
 * @param <T> the result
 */
@FunctionalInterface
public interface LockedWork<T extends @Nullable Object> {

    /**
     * Does the work, on the thread that called {@link BlockingLock#withLock}.
     *
     * @param lease the lease: send its {@link LockLease#fencingToken()} with each write
     * @return the result
     * @throws Exception any; {@code withLock} throws the same one
     */
    T run(LockLease lease) throws Exception;
}
