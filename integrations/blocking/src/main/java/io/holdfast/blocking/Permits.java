package io.holdfast.blocking;

import io.holdfast.LockClient;

/** Permits of one semaphore that one acquisition takes. */
record Permits(LockClient client, String name, int all, int taken) {

    boolean isSameSemaphore(Permits other) {
        return client == other.client && name.equals(other.name);
    }

    Permits taking(int number) {
        return new Permits(client, name, all, number);
    }
}
