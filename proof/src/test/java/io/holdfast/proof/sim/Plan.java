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
 * @param isTight whether leases are held to their last moment, by processes that hear late and are cut off from all servers in one direction:
 *     what comes of a validity that is counted a little too long
 * @param forgets whether servers that come back after a crash may have lost their data, where that breaks no promise of exclusion
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
        boolean isTight,
        boolean forgets,
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
        boolean isTight = weather == Weather.ROUGH && !kind.isOneProcess() && world.chance(0.25);
        long usual = World.ms(1) * world.oneOf(1L, lease / 100, isCalm ? 1L : lease / 20);
        long claim = Math.max(10, world.oneOf(lease / 10, lease / 3, 2_000L));
        return new Plan(
                weather,
                Duration.ofMillis(lease),
                Duration.ofMillis(claim),
                kind.isOneProcess() ? 1 : 2 + world.below(2),
                isTight ? 1 : 1 + world.below(3),
                2 + world.below(5),
                isTight || world.chance(0.7) ? 1 : 2,
                isCalm ? 0 : 1 + world.below(8),
                kind == StoreKind.REDLOCK || world.chance(0.5),
                isTight,
                kind == StoreKind.REDLOCK && weather == Weather.ROUGH && world.chance(0.4),
                manners(world, weather, isTight, usual, lease, claim));
    }

    private static Manners manners(World world, Weather weather, boolean isTight, long usual, long lease, long claim) {
        if (weather == Weather.CALM) {
            return new Manners(Math.min(usual, World.ms(Math.max(1, claim / 20))), 0, 0, 0);
        }
        if (isTight) {
            return new Manners(World.ms(1), 0, 0, 0);
        }
        return new Manners(
                usual, world.chance(0.3) ? World.ms(lease / 5) : 0, world.oneOf(0.0, 0.02, 0.2), World.ms(lease));
    }

    /** How late the first process hears of answers in a tight schedule: just in time. */
    long latenessNanos(StoreKind kind) {
        return kind == StoreKind.REDLOCK ? World.ms(48) : lease.toNanos() / 4 - World.ms(2);
    }

    boolean is(Weather other) {
        return weather == other;
    }
}
