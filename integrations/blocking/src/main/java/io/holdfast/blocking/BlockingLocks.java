package io.holdfast.blocking;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockClient;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveReadWriteLock;
import io.holdfast.ReactiveSemaphore;
import java.util.List;
import java.util.stream.Stream;

/**
 * The locks of a client for code that may block: servlets, batch jobs, virtual threads. The client is shared with
 * reactive code, and the application closes it as ever.
 *
 * <pre>{@code
 * BlockingLocks blocking = BlockingLocks.of(locks);
 * Receipt receipt = blocking.lock("stock/42").withLock(lease -> sell(42, lease.fencingToken()));
 * }</pre>
 *
 * <p>Thread-safe. All objects that were made of one client know the same locks of a thread.
 */
public final class BlockingLocks {

    private record ReadWriteLock(BlockingLock readLock, BlockingLock writeLock) implements BlockingReadWriteLock {}

    private final LockClient client;

    private BlockingLocks(LockClient client) {
        this.client = client;
    }

    /**
     * Wraps a client. Sends nothing.
     *
     * @param locks the client
     * @return its locks for code that may block
     */
    public static BlockingLocks of(LockClient locks) {
        return new BlockingLocks(requireNonNull(locks, "locks"));
    }

    /**
     * Returns an exclusive lock.
     *
     * @param name as for {@link LockClient#lock}
     * @return a lock with the client's default options
     * @throws IllegalArgumentException if the name is not valid
     */
    public BlockingLock lock(String name) {
        return new OneLock(client.lock(name), List.of());
    }

    /**
     * Returns a read/write lock.
     *
     * @param name as for {@link LockClient#readWriteLock}
     * @return a pair of locks with the client's default options
     * @throws IllegalArgumentException if the name is not valid
     * @throws UnsupportedOperationException if the back end does not have read/write locks
     */
    public BlockingReadWriteLock readWriteLock(String name) {
        ReactiveReadWriteLock locks = client.readWriteLock(name);
        return new ReadWriteLock(new OneLock(locks.readLock(), List.of()), new OneLock(locks.writeLock(), List.of()));
    }

    /**
     * Returns a semaphore: each lease takes one permit, or as many as {@link BlockingSemaphore#permits} says.
     *
     * @param name as for {@link LockClient#semaphore}
     * @param permits how many permits claims may take at once, at least 1
     * @return a semaphore with the client's default options
     * @throws IllegalArgumentException if the name is not valid, or permits is less than 1
     * @throws UnsupportedOperationException if the back end does not have semaphores
     */
    public BlockingSemaphore semaphore(String name, int permits) {
        ReactiveSemaphore semaphore = client.semaphore(name, permits);
        return new OneSemaphore(semaphore, new Permits(client, name, permits, 1));
    }

    /**
     * Returns several locks as one: an acquisition takes all of them, or none.
     *
     * @param locks locks of this client, as for {@link LockClient#all}
     * @return the locks as one
     * @throws IllegalArgumentException as {@link LockClient#all}
     */
    public BlockingMultiLock all(BlockingLock... locks) {
        List<OneLock> members = Stream.of(requireNonNull(locks, "locks"))
                .map(lock -> (OneLock) requireNonNull(lock, "lock"))
                .toList();
        return new ManyLocks(
                client.all(members.stream().map(OneLock::reactive).toArray(ReactiveLock[]::new)),
                members.stream().flatMap(it -> it.permits().stream()).distinct().toList());
    }

    @Override
    public String toString() {
        return "BlockingLocks of " + client;
    }
}
