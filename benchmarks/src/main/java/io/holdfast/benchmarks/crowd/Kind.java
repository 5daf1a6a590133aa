package io.holdfast.benchmarks.crowd;

import io.holdfast.LockClient;
import io.holdfast.ReactiveLock;

/** The kinds of locks that a crowd can want. */
public enum Kind {
    /** A mutex. */
    MUTEX,
    /** The write lock of a read/write lock. */
    WRITE,
    /** A semaphore; each claim takes one permit. */
    SEMAPHORE;

    private static final int PERMITS = 4;

    ReactiveLock lock(LockClient client, String name) {
        return switch (this) {
            case MUTEX -> client.lock(name);
            case WRITE -> client.readWriteLock(name).writeLock();
            case SEMAPHORE -> client.semaphore(name, PERMITS).permits(1);
        };
    }

    /** Returns a lock that is free only while no claim holds the lock or a permit. */
    ReactiveLock whole(LockClient client, String name) {
        return this == SEMAPHORE ? client.semaphore(name, PERMITS).permits(PERMITS) : lock(client, name);
    }
}
