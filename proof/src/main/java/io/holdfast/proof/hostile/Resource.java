package io.holdfast.proof.hostile;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockKey;
import java.util.ArrayList;
import java.util.List;

/**
 * A lock that the processes of a campaign contend for.
 *
 * @param key the lock
 * @param permits how many permits of a semaphore each lease takes; 1 of other kinds
 */
record Resource(LockKey key, int permits) {

    private static final LockKey PERMITS = new LockKey(LockKind.SEMAPHORE, "permits", 3);

    /** A lock that is always held for long, so that most faults find it held, with waiters. */
    private static final String COVETED = "coveted";

    /** All locks of a campaign: mainly mutexes. */
    static List<Resource> all(Target target) {
        List<Resource> all = new ArrayList<>(List.of(
                new Resource(LockKey.of(LockKind.MUTEX, "mutex-1"), 1),
                new Resource(LockKey.of(LockKind.MUTEX, "mutex-2"), 1),
                new Resource(LockKey.of(LockKind.MUTEX, COVETED), 1),
                new Resource(LockKey.of(LockKind.READ, "shared"), 1),
                new Resource(LockKey.of(LockKind.WRITE, "shared"), 1)));
        if (target != Target.REDLOCK) {
            all.add(new Resource(PERMITS, 1));
            all.add(new Resource(PERMITS, 2));
        }
        return List.copyOf(all);
    }

    /** Returns whether a lease excludes all others, so that the lock can guard a register. */
    boolean isExclusive() {
        return key.kind() == LockKind.MUTEX || key.kind() == LockKind.WRITE;
    }

    boolean isCoveted() {
        return key.name().equals(COVETED);
    }

    ReactiveLock of(LockClient client) {
        return switch (key.kind()) {
            case MUTEX -> client.lock(key.name());
            case READ -> client.readWriteLock(key.name()).readLock();
            case WRITE -> client.readWriteLock(key.name()).writeLock();
            case SEMAPHORE -> client.semaphore(key.name(), key.permits()).permits(permits);
        };
    }

    @Override
    public String toString() {
        return key.kind() + " " + key.name() + (permits == 1 ? "" : " with %d permits".formatted(permits));
    }
}
