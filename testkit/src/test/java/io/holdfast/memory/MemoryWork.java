package io.holdfast.memory;

/** Counts what an in-memory back end has done. */
public final class MemoryWork {

    private MemoryWork() {}

    /** Returns how many claims the requests have examined so far. */
    public static long of(InMemoryLockBackend store) {
        return store.examined();
    }
}
