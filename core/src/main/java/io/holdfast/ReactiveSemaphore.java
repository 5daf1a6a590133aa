package io.holdfast;

/**
 * A lock with several permits, of which each lease takes one, or as many as {@link #permits} says: work that uses much of what the permits stand for takes
 * many of them.
 *
 * <pre>{@code
 * ReactiveSemaphore connections = locks.semaphore("warehouse-connections", 20);
 * Mono<Report> report = connections.withLock(lease -> report());           // takes 1
 * Mono<Void> nightly = connections.permits(5).withLock(lease -> importAll()); // takes 5, together
 * }</pre>
 *
 * <p><b>All or none.</b> A lease gets all of its permits at one time, with one fencing token, and gives all of them back at one time: when it is released, or
 * when it ends. It never has some of them.
 *
 * <p><b>Order.</b> On a back end with queues, waiters are served first come, first served, whatever they take. A waiter that takes many holds back all that come
 * later, also those that would fit into what is free: else it might wait for ever. So free permits stay unused while the first waiter waits for more of them.
 * Permits that get free go to the first waiters, as many as fit.
 *
 * <p>A pipeline that holds permits and acquires more may wait for itself, or for another one that does the same. Take all that is needed in one lease.
 *
 * <p>Not for users to implement.
 */
public interface ReactiveSemaphore extends ReactiveLock {

    /**
     * The same semaphore with other options.
     *
     * @param options for acquisitions through the copy
     * @return a copy; this semaphore stays as it is
     * @throws IllegalArgumentException as {@link ReactiveLock#with}
     * @throws UnsupportedOperationException as {@link ReactiveLock#with}
     */
    @Override
    ReactiveSemaphore with(LockOptions options);

    /**
     * The same semaphore, of which each lease takes several permits.
     *
     * @param taken how many, from 1 to the permits of this semaphore. A claim gets them when at most so many others are taken that they fit, by its own number
     *     of permits: see {@link LockClient#semaphore}
     * @return a lock with the options of this semaphore; nothing was sent
     * @throws IllegalArgumentException if it is less than 1, or more than this semaphore has
     * @throws UnsupportedOperationException if it is more than 1, and the back end does not have {@link io.holdfast.spi.LockFeature#MANY_PERMITS}
     */
    ReactiveLock permits(int taken);
}
