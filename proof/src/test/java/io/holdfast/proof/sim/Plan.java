package io.holdfast.proof.sim;

import io.holdfast.proof.sim.Network.Manners;
import java.time.Duration;

/**
 * What one schedule is about, chosen by its seed.
 *
 * @param weather which faults there are, and so which promises hold
 * @param lease of all locks
 * @param claimTime of Redis
 * @param hosts how many processes
 * @param actors how many use locks at the same time in each
 * @param deeds how often each of them does
 * @param locks how many locks there are
 * @param faults how many are injected
 * @param jumps whether it is clocks that are wild, and not memories
 * @param manners of the network, apart from faults
 */
record Plan(
        Weather weather,
        Duration lease,
        Duration claimTime,
        int hosts,
        int actors,
        int deeds,
        int locks,
        int faults,
        boolean jumps,
        Manners manners) {

    /** Which faults there are. */
    enum Weather {
        /** None: what the queue promises holds, and nothing is ever lost. */
        CALM,
        /** Those under which all guarantees hold. */
        ROUGH,
        /** Those that break the assumptions, too: clocks jump, and servers forget. Only tokens are looked at. */
        WILD
    }

    static Plan of(World world, StoreKind kind) {
        long lease = kind == StoreKind.REDLOCK ? world.oneOf(300L, 900L) : world.oneOf(300L, 900L, 3_000L, 9_000L);
        Weather weather = world.chance(0.15) ? Weather.CALM : world.chance(0.15) ? Weather.WILD : Weather.ROUGH;
        boolean isCalm = weather == Weather.CALM;
        long usual = World.ms(1) * world.oneOf(1L, lease / 100, isCalm ? 1L : lease / 20);
        long claim = Math.max(10, world.oneOf(lease / 10, lease / 3, 2_000L));
        return new Plan(
                weather,
                Duration.ofMillis(lease),
                Duration.ofMillis(claim),
                kind.isOneProcess() ? 1 : 2 + world.below(2),
                1 + world.below(3),
                2 + world.below(5),
                world.chance(0.7) ? 1 : 2,
                isCalm ? 0 : 1 + world.below(8),
                kind == StoreKind.REDLOCK || world.chance(0.5),
                isCalm
                        ? new Manners(Math.min(usual, World.ms(Math.max(1, claim / 20))), 0, 0, 0)
                        : new Manners(
                                usual,
                                world.chance(0.3) ? World.ms(lease / 5) : 0,
                                world.oneOf(0.0, 0.02, 0.2),
                                World.ms(lease)));
    }

    boolean is(Weather other) {
        return weather == other;
    }
}
