package io.holdfast.blocking;

import io.holdfast.MultiLease;
import org.jspecify.annotations.Nullable;

/**
 * Work under several locks. It may block, and may throw any exception.
 *
 * @param <T> the result
 */
@FunctionalInterface
public interface LockedWorkOfMany<T extends @Nullable Object> {

    /**
     * Does the work, on the thread that called {@link BlockingMultiLock#withLock}.
     *
     * @param leases the leases, each with a fencing token of its own
     * @return the result
     * @throws Exception any; {@code withLock} throws the same one
     */
    T run(MultiLease leases) throws Exception;
}
