package io.holdfast.proof.sim;

/** The errors of clocks. The guarantees assume that two clocks run at the same speed within 1 %. */
final class Clocks {

    private static final double FASTEST = 0.0045;

    private Clocks() {}

    static double rate(World world) {
        return 1 + world.oneOf(0.0, 1.0, -1.0, 2 * world.random() - 1) * FASTEST;
    }

    /** Returns the error of a wall clock in microseconds: up to half a minute in either direction. */
    static long ahead(World world) {
        return world.chance(0.5) ? 0 : world.between(-30_000_000, 30_000_000);
    }
}
