package io.holdfast.blocking;

import io.holdfast.MultiLease;
import org.jspecify.annotations.Nullable;

/**
 * Work under several locks. It may block, and may throw exceptions. The compiler infers their type
 * from a lambda: {@link RuntimeException} if it throws no checked one.
 *
 * @param <T> the result
 * @param <E> the checked exception of the work
 */
@FunctionalInterface
public interface LockedWorkOfMany<T extends @Nullable Object, E extends Exception> {

    /**
     * Does the work, on the thread that called {@link BlockingMultiLock#withLock}.
     *
     * @param leases the leases, each with a fencing token of its own
     * @return the result
     * @throws E any; {@code withLock} throws the same one
     */
    T run(MultiLease leases) throws E;
}
