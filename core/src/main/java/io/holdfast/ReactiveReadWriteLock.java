package io.holdfast;

/**
 * Two locks of one name: many claims may hold the read lock, or one claim the write lock. A waiting writer holds back
 * readers that come after it. A read lock taken inside {@link ReactiveLock#withLock} of the write lock is a nested view
 * of the write lease. The opposite is an {@link IllegalStateException}, because two readers that upgrade would wait for
 * each other for ever.
 */
public interface ReactiveReadWriteLock {

    /** {@return the shared side, which excludes writers} */
    ReactiveLock readLock();

    /** {@return the exclusive side, which excludes readers and writers} */
    ReactiveLock writeLock();
}
