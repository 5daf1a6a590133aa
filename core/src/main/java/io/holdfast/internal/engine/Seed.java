package io.holdfast.internal.engine;

import java.security.SecureRandom;

/** Random bits of the system. */
public record Seed(long high, long low, long phase) {

    /** Reads the bits; the device that it may read does not block: see {@link SeedRead}. */
    static Seed read() {
        SecureRandom random = new SecureRandom();
        return new Seed(random.nextLong(), random.nextLong(), random.nextLong());
    }
}
