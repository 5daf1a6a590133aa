package io.holdfast.internal;

import java.security.SecureRandom;

/** Bits of the system's randomness. */
record Seed(long high, long low, long phase) {

    /** May read a device that does not make anybody wait: see {@link SeedRead}. */
    static Seed read() {
        SecureRandom random = new SecureRandom();
        return new Seed(random.nextLong(), random.nextLong(), random.nextLong());
    }
}
