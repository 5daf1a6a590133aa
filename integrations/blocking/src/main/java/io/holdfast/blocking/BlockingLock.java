package io.holdfast.blocking;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A lock for code that may block. Stateless, cheap, shareable.
 *
 * <p><b>Threads.</b> Each method waits on the thread that calls it, and work runs on that thread. On a thread that must
 * not block, each of them throws {@link IllegalStateException} before it sends anything. These are the non-blocking
 * threads of Reactor and the event loops of Netty, and so those of Vert.x.
 *
 * <p><b>Interrupts.</b> An interrupt ends the wait for a lock with {@link InterruptedException}. The client withdraws
 * the claim then, and releases the lock if it is granted at that moment. An interrupt does not end the wait for the
 * confirmation of a release, which takes at most one operation timeout. It stays pending.
 *
 * <p><b>Re-entrancy.</b> A thread that holds a lock through these interfaces gets a nested view of it when it acquires
 * it again, with the same token and without a request, as {@link ReactiveLock} says for {@code withLock}. So the end of
 * the outermost lease is a loss for those nested in it. A lease counts for the thread that acquired it until it is
 * closed, on any thread. The reactive interfaces do not know what a thread holds: {@code locks.lock("a")} of the
 * {@link LockClient} waits inside {@code withLock} of {@code a}.
 *
 * <p><b>Errors</b> are those of {@link ReactiveLock}, unwrapped. Users do not implement this interface.
 */
public interface BlockingLock {

    /** {@return the name, as given to the client} */
    String name();

    /**
     * Returns the same lock with other options.
     *
     * @param options the options for acquisitions through the copy
     * @return a copy; this lock stays as it is
     * @throws IllegalArgumentException as {@link ReactiveLock#with}
     * @throws UnsupportedOperationException as {@link ReactiveLock#with}
     */
    BlockingLock with(LockOptions options);

    /**
     * Takes the lock, and waits for it as long as {@link LockOptions#waitTimeout()} allows.
     *
     * @return the lease; close it
     * @throws InterruptedException if the thread is interrupted; it has no lock then
     * @throws LockTimeoutException when the wait is over
     */
    BlockingLease acquire() throws InterruptedException;

    /**
     * Takes the lock if it is available now, in one attempt.
     *
     * @return the lease; close it. Empty when the lock is not available
     * @throws InterruptedException if the thread is interrupted; it has no lock then
     */
    Optional<BlockingLease> tryAcquire() throws InterruptedException;

    /**
     * Runs work under the lock, on this thread: acquires, does the work, releases, and then returns.
     *
     * <p>When the lease is lost, this thread is interrupted, if the work has not ended, and the method throws
     * {@link LockLostException} when the work has returned or thrown. Nothing but that thread is interrupted, and the
     * interrupt is cleared before the method returns. An exception of the work is suppressed in the
     * {@code LockLostException}.
     *
     * <p>An interrupt that was pending before that of the loss stays pending. If another thread interrupts this one
     * after the loss, while the work still runs, the two cannot be told apart, since a thread has one flag for both:
     * {@code LockLostException} stands for both then.
     *
     * @param work the work
     * @param <T> the result of the work
     * @param <E> the checked exception of the work
     * @return the result of the work
     * @throws InterruptedException if the thread is interrupted while it waits for the lock
     * @throws LockLostException if the lease was lost; its fencing token is that of the work
     * @throws E that of the work, the same object
     */
    @CanIgnoreReturnValue
    <T extends @Nullable Object, E extends Exception> T withLock(LockedWork<T, E> work) throws E, InterruptedException;
}
