package io.holdfast.blocking;

import io.holdfast.LockLease;
import org.jspecify.annotations.Nullable;

/**
 * Work under a lock. It may block, and may throw exceptions. The compiler infers their type
 * from a lambda: {@link RuntimeException} if it throws no checked one.
 *
 * @param <T> the result
 * @param <E> the checked exception of the work
 */
@FunctionalInterface
public interface LockedWork<T extends @Nullable Object, E extends Exception> {

    /**
     * Does the work, on the thread that called {@link BlockingLock#withLock}.
     *
     * @param lease the lease: send its {@link LockLease#fencingToken()} with each write
     * @return the result
     * @throws E any; {@code withLock} throws the same one
     */
    T run(LockLease lease) throws E;
}
