package io.holdfast.internal.engine;

import java.security.SecureRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/** The source of a client's randomness; {@code isOfSystem}: whether the client takes new seeds later. */
public record Randomness(Seed seed, DoubleSupplier pauses, boolean isOfSystem) {

    /** 192 random bits: 128 for claim ids, and the phase of the renewals. */
    public record Seed(long high, long low, long phase) {}

    public Randomness(Seed seed, DoubleSupplier pauses) {
        this(seed, pauses, false);
    }

    public static Randomness ofSystem() {
        return new Randomness(readSeed(), () -> ThreadLocalRandom.current().nextDouble(), true);
    }

    /** The device that it may read does not block: see {@link SeedRead}. */
    static Seed readSeed() {
        SecureRandom random = new SecureRandom();
        return new Seed(random.nextLong(), random.nextLong(), random.nextLong());
    }

    ClaimIds ids(String owner) {
        return isOfSystem
                ? new ClaimIds(seed, owner, Randomness::readSeed, System::currentTimeMillis, System::nanoTime)
                : new ClaimIds(seed, owner);
    }
}
