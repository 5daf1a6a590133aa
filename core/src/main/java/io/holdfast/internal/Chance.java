package io.holdfast.internal;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * Where a client's randomness comes from.
 *
 * @param seed what makes its claims and its renewals differ from those of other clients
 * @param pauses chance in [0, 1), for the pauses between looks
 */
record Chance(Seed seed, DoubleSupplier pauses) {

    /** Reads the seed: see {@link Seed#read}. */
    static Chance ofSystem() {
        return new Chance(Seed.read(), () -> ThreadLocalRandom.current().nextDouble());
    }

    double next() {
        return pauses.getAsDouble();
    }
}
