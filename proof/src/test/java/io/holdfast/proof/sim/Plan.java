package io.holdfast.proof.sim;

import io.holdfast.proof.sim.Network.Manners;
import java.time.Duration;

/**
 * The parameters of one schedule, chosen by its seed.
 *
 * @param weather which faults come, and so which promises hold
 * @param lease the lease duration of all locks
 * @param claimTime the claim time of Redis
 * @param hosts the number of processes
 * @param leases for how many lease durations faults come; the users continue for half as long after that
 * @param actors how many users each process has at the same time
 * @param deeds how often each user acquires a lock
 * @param locks how many locks there are
 * @param faults how many faults are injected
 * @param jumps whether wild weather means jumps of clocks, and not loss of data
 * @param isTight whether users hold leases to their last moment, in processes that get answers late and are cut off from all servers in one direction:
 *     this shows a validity that is a little too long
 * @param hasLastWords whether a ZooKeeper server silences them: it answers them, and then crashes before it has told the leader
 * @param forgets whether servers that come back after a crash may have lost their data, where that breaks no promise of exclusion
 * @param manners the properties of the network, apart from faults
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

    /** The kinds of faults. */
    enum Weather {
        /** No faults: the promises of the queue hold, and no lease is ever lost. */
        CALM,
        /** Faults under which all guarantees hold. */
        ROUGH,
        /** Faults that break the assumptions, too: clocks jump, and servers lose data. Only tokens are checked. */
        WILD
    }

    /** The share of long schedules: per second of run time, short schedules find more mistakes. */
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

    /** A waiter of a Redlock sends many attempts, which costs much time. */
    private static int actors(World world, StoreKind kind, boolean isLong) {
        if (kind == StoreKind.REDLOCK && !isLong) {
            return world.chance(0.3) ? 2 : 1;
        }
        return 1 + world.below(isLong ? 3 : 2);
    }

    /** If a master takes longer than the 50 ms time limit of a Redlock, all requests to it fail. */
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

    /** How late the first process gets answers in a tight schedule: just in time. */
    long latenessNanos(StoreKind kind) {
        return kind.below() == StoreKind.REDLOCK ? World.ms(48) : lease.toNanos() / 4 - World.ms(2);
    }

    boolean is(Weather other) {
        return weather == other;
    }
}
