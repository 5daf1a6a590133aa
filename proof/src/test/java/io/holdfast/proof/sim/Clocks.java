package io.holdfast.proof.sim;

/** How wrong clocks are: what is assumed is that two of them run at the same speed within 1 %. */
final class Clocks {

    private static final double FASTEST = 0.0045;

    private Clocks() {}

    static double rate(World world) {
        return 1 + world.oneOf(0.0, 1.0, -1.0, 2 * world.random() - 1) * FASTEST;
    }

    /** What a wall clock shows too much, in microseconds: up to half a minute either way. */
    static long ahead(World world) {
        return world.chance(0.5) ? 0 : world.between(-30_000_000, 30_000_000);
    }
}
