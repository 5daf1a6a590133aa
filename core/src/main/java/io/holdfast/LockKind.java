package io.holdfast;

/**
 * The kind of a lock. A mutex, a read/write lock and a semaphore of one name are three different locks; the two sides of a
 * read/write lock are one.
 */
public enum LockKind {

    /** One holder. */
    MUTEX,

    /** The shared side of a read/write lock. */
    READ,

    /** The exclusive side of a read/write lock. */
    WRITE,

    /** As many holders as fit into the number of its permits. */
    SEMAPHORE
}
