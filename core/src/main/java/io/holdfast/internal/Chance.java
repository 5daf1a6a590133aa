package io.holdfast.internal;

import io.holdfast.spi.OwnerLabel;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * Where a client's randomness comes from.
 *
 * @param seed what makes its claims and its renewals differ from those of other clients
 * @param pauses chance in [0, 1), for the pauses between attempts
 * @param isOfSystem whether claims take other seeds later
 */
record Chance(Seed seed, DoubleSupplier pauses, boolean isOfSystem) {

    /** All that follows from this can be repeated. */
    Chance(Seed seed, DoubleSupplier pauses) {
        this(seed, pauses, false);
    }

    /** Reads the seed: see {@link Seed#read}. */
    static Chance ofSystem() {
        return new Chance(Seed.read(), () -> ThreadLocalRandom.current().nextDouble(), true);
    }

    ClaimIds ids(String owner) {
        return isOfSystem ? ClaimIds.ofSystem(seed, owner) : new ClaimIds(seed, owner);
    }

    /** The label of a client that was not given one. */
    String owner() {
        return isOfSystem ? OwnerLabel.ofProcess() : "repeatable:host:1";
    }

    double next() {
        return pauses.getAsDouble();
    }
}
