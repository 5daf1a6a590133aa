package io.holdfast.blocking;

import io.holdfast.ReactiveReadWriteLock;

/**
 * Two locks of one name, as {@link ReactiveReadWriteLock} has them. On one thread, a read or a write inside a write is
 * nested, and so is a read inside a read, although a writer waits. A write inside a read would wait for itself, and is
 * an {@link IllegalStateException}. Users do not implement this interface.
 */
public interface BlockingReadWriteLock {

    /** {@return the shared side, which excludes writers} */
    BlockingLock readLock();

    /** {@return the exclusive side, which excludes readers and writers} */
    BlockingLock writeLock();
}
