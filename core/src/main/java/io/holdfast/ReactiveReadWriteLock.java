package io.holdfast;

/**
 * Two locks of one name: many may hold the read lock, or one the write lock. A waiting writer holds back readers that come
 * after it. A read lock taken inside {@link ReactiveLock#withLock} of the own write lock is a nested view of the write lease;
 * the other way round is an {@link IllegalStateException}, because two upgrading readers would wait for each other for ever.
 */
public interface ReactiveReadWriteLock {

    /**
     * The shared side.
     *
     * @return a lock that excludes writers
     */
    ReactiveLock readLock();

    /**
     * The exclusive side.
     *
     * @return a lock that excludes readers and writers
     */
    ReactiveLock writeLock();
}
