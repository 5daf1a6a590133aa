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
 * @param leases for how many leases there are faults, and everybody goes on for half as long after that
 * @param actors how many use locks at the same time in each
 * @param deeds how often each of them does
 * @param locks how many locks there are
 * @param faults how many are injected
 * @param jumps whether it is clocks that are wild, and not memories
 * @param isTight whether leases are held to their last moment, by processes that hear late and are cut off from all servers in one direction:
 *     what comes of a validity that is counted a little too long
 * @param hasLastWords whether what silences them is a server of ZooKeeper that answers what it has not told the leader, and crashes then
 * @param forgets whether servers that come back after a crash may have lost their data, where that breaks no promise of exclusion
 * @param manners of the network, apart from faults
 */
record Plan(
        Weather weather,
        Duration lease,
        Duration claimTime,
        int leases,
        int hosts,
        int actors,
        int deeds,
        int locks,
        int faults,
        boolean jumps,
        boolean isTight,
        boolean hasLastWords,
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

    /** So rare are long ones: mistakes are found in short ones sooner, for the time that they take. */
    private static final double LONG = 0.05;

    static Plan of(World world, StoreKind store) {
        StoreKind kind = store.below();
        boolean isLong = world.chance(kind == StoreKind.REDLOCK ? LONG / 2 : LONG);
        long lease = kind == StoreKind.REDLOCK
                ? world.oneOf(300L, isLong ? 900L : 300L, 900L)
                : world.oneOf(300L, 900L, 3_000L, 9_000L);
        Weather weather = world.chance(0.15) ? Weather.CALM : world.chance(0.15) ? Weather.WILD : Weather.ROUGH;
        boolean isCalm = weather == Weather.CALM;
        boolean isTight = weather == Weather.ROUGH && !kind.isOneProcess() && world.chance(0.25);
        long quick = quickMillis(kind, lease);
        long usual = World.ms(1) * world.oneOf(1L, quick / 100, isCalm ? 1L : quick / 20);
        long claim = Math.max(10, world.oneOf(lease / 10, lease / 3, 2_000L));
        return new Plan(
                weather,
                Duration.ofMillis(lease),
                Duration.ofMillis(claim),
                isLong ? 8 : kind == StoreKind.REDLOCK ? 2 : 3,
                kind.isOneProcess() ? 1 : 2 + world.below(isLong ? 2 : 1),
                isTight && !store.handsOver() ? 1 : actors(world, kind, isLong) + (store.handsOver() ? 1 : 0),
                isLong || (isCalm && store.handsOver()) ? 2 + world.below(5) : 1 + world.below(2),
                isTight || world.chance(0.7) ? 1 : 2,
                isCalm ? 0 : 1 + world.below(isLong ? 8 : 3),
                kind == StoreKind.REDLOCK || world.chance(0.5),
                isTight,
                isTight && kind == StoreKind.ZOOKEEPER && world.chance(0.3),
                kind == StoreKind.REDLOCK && weather == Weather.ROUGH && world.chance(0.4),
                manners(world, kind, weather, isTight, usual, lease, claim));
    }

    /** Whoever waits for a Redlock asks again and again, which is dear. */
    private static int actors(World world, StoreKind kind, boolean isLong) {
        if (kind == StoreKind.REDLOCK && !isLong) {
            return world.chance(0.3) ? 2 : 1;
        }
        return 1 + world.below(isLong ? 3 : 2);
    }

    /** Masters of a Redlock that take longer than its time-out of 50 ms are asked in vain, again and again. */
    private static long quickMillis(StoreKind kind, long lease) {
        return kind == StoreKind.REDLOCK ? 100 : lease;
    }

    private static Manners manners(
            World world, StoreKind kind, Weather weather, boolean isTight, long usual, long lease, long claim) {
        if (weather == Weather.CALM) {
            return new Manners(Math.min(usual, World.ms(Math.max(1, claim / 20))), 0, 0, 0);
        }
        if (isTight) {
            return new Manners(World.ms(1), 0, 0, 0);
        }
        return new Manners(
                usual,
                world.chance(0.3) ? World.ms(quickMillis(kind, lease) / 5) : 0,
                world.oneOf(0.0, 0.02, kind == StoreKind.REDLOCK ? 0.05 : 0.2),
                World.ms(lease));
    }

    /** How late the first process hears of answers in a tight schedule: just in time. */
    long latenessNanos(StoreKind kind) {
        return kind.below() == StoreKind.REDLOCK ? World.ms(48) : lease.toNanos() / 4 - World.ms(2);
    }

    boolean is(Weather other) {
        return weather == other;
    }
}
