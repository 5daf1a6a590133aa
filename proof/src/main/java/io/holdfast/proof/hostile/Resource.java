package io.holdfast.proof.hostile;

import io.holdfast.LockClient;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import java.util.ArrayList;
import java.util.List;

/**
 * A lock that the processes of a campaign contend for.
 *
 * @param key what it is
 */
record Resource(LockKey key) {

    private static final int PERMITS = 2;

    /** Always held for long, so that hardly a fault finds it free, and somebody always waits for it. */
    private static final String COVETED = "coveted";

    /** What is there to contend for: mainly mutexes. */
    static List<Resource> all(Target target) {
        List<LockKey> all = new ArrayList<>(List.of(
                LockKey.of(LockKind.MUTEX, "mutex-1"),
                LockKey.of(LockKind.MUTEX, "mutex-2"),
                LockKey.of(LockKind.MUTEX, COVETED),
                LockKey.of(LockKind.READ, "shared"),
                LockKey.of(LockKind.WRITE, "shared")));
        if (target != Target.REDLOCK) {
            all.add(new LockKey(LockKind.SEMAPHORE, "permits", PERMITS));
        }
        return all.stream().map(Resource::new).toList();
    }

    /** Whether nobody else may hold it meanwhile, so that it can guard a register. */
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
            case SEMAPHORE -> client.semaphore(key.name(), key.permits());
        };
    }

    @Override
    public String toString() {
        return key.kind() + " " + key.name();
    }
}
