package io.holdfast.blocking;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveMultiLock;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Several locks as one, as {@link ReactiveMultiLock}: an acquisition takes all of them, or none. Threads, interrupts and
 * re-entrancy are as {@link BlockingLock} says. Users do not implement this interface.
 */
public interface BlockingMultiLock {

    /** {@return the names of the members in the canonical order, each once; unmodifiable} */
    List<String> names();

    /**
     * Returns the same locks with other options.
     *
     * @param options the options for each member
     * @return a copy; this one stays as it is
     * @throws IllegalArgumentException as {@link ReactiveMultiLock#with}
     * @throws UnsupportedOperationException as {@link ReactiveMultiLock#with}
     */
    BlockingMultiLock with(LockOptions options);

    /**
     * Takes all members, and waits for those that are not available.
     *
     * @return the leases; close them
     * @throws InterruptedException if the thread is interrupted; it has none of the locks then
     */
    BlockingMultiLease acquire() throws InterruptedException;

    /**
     * Takes all members if all are available now.
     *
     * @return the leases; close them. Empty when at least one is not available
     * @throws InterruptedException if the thread is interrupted; it has none of the locks then
     */
    Optional<BlockingMultiLease> tryAcquire() throws InterruptedException;

    /**
     * Runs work under all locks, on this thread, as {@link BlockingLock#withLock} does under one.
     *
     * @param work the work
     * @param <T> the result of the work
     * @param <E> the checked exception of the work
     * @return the result of the work
     * @throws InterruptedException if the thread is interrupted while it waits for the locks
     * @throws LockLostException if a lease was lost
     * @throws E that of the work, the same object
     */
    @CanIgnoreReturnValue
    <T extends @Nullable Object, E extends Exception> T withLock(LockedWorkOfMany<T, E> work)
            throws E, InterruptedException;
}
