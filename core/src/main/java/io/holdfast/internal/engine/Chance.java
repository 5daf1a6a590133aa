package io.holdfast.internal.engine;

import io.holdfast.spi.support.OwnerLabel;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * The source of a client's randomness.
 *
 * @param seed makes its claims and renewals differ from those of other clients
 * @param pauses random numbers in [0, 1), for the pauses between attempts
 * @param isOfSystem whether the client takes new seeds later
 */
public record Chance(Seed seed, DoubleSupplier pauses, boolean isOfSystem) {

    /** Makes a repeatable source. */
    public Chance(Seed seed, DoubleSupplier pauses) {
        this(seed, pauses, false);
    }

    /** Makes a source that reads its seed: see {@link Seed#read}. */
    public static Chance ofSystem() {
        return new Chance(Seed.read(), () -> ThreadLocalRandom.current().nextDouble(), true);
    }

    ClaimIds ids(String owner) {
        return isOfSystem ? ClaimIds.ofSystem(seed, owner) : new ClaimIds(seed, owner);
    }

    /** Returns the default label of a client. */
    public String owner() {
        return isOfSystem ? OwnerLabel.ofProcess() : "repeatable:host:1";
    }

    double next() {
        return pauses.getAsDouble();
    }
}
