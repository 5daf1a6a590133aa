package io.holdfast;

/**
 * A lock with several permits. Each lease takes one, or as many as {@link #permits} says, so heavy work can take many
 * permits.
 *
 * <pre>{@code
 * ReactiveSemaphore connections = locks.semaphore("warehouse-connections", 20);
 * Mono<Report> report = connections.withLock(lease -> report());           // takes 1
 * Mono<Void> nightly = connections.permits(5).withLock(lease -> importAll()); // takes 5, together
 * }</pre>
 *
 * <p><b>All or none.</b> A lease gets all its permits at once, with one fencing token, and returns all at once: at its
 * release, or at its end. It never holds only some of them.
 *
 * <p><b>Order.</b> On a back end with queues, waiters are served in order of arrival, whatever number they take. A
 * waiter that takes many permits holds back all later waiters, even if the free permits are enough for them. Otherwise
 * it might wait for ever. So free permits stay unused while the first waiter waits for more of them. Permits that
 * become free go to the first waiters, as many as fit.
 *
 * <p>A pipeline that holds permits and acquires more may wait for itself, or for another pipeline that does the same.
 * Take all permits that you need in one lease.
 *
 * <p>Users do not implement this interface.
 */
public interface ReactiveSemaphore extends ReactiveLock {

    /**
     * Returns the same semaphore with other options.
     *
     * @param options the options for acquisitions through the copy
     * @return a copy; this semaphore stays as it is
     * @throws IllegalArgumentException as {@link ReactiveLock#with}
     * @throws UnsupportedOperationException as {@link ReactiveLock#with}
     */
    @Override
    ReactiveSemaphore with(LockOptions options);

    /**
     * Returns the same semaphore with another number of permits for each lease.
     *
     * @param taken the number, from 1 to the permits of this semaphore. The back end grants a claim when enough permits
     *     are left, by the claim's own number of permits: see {@link LockClient#semaphore}
     * @return a lock with the options of this semaphore; the client sends nothing
     * @throws IllegalArgumentException if the number is less than 1, or more than this semaphore has
     * @throws UnsupportedOperationException if the number is more than 1, and the back end does not have
     *     {@link io.holdfast.spi.LockFeature#MANY_PERMITS}
     */
    ReactiveLock permits(int taken);
}
