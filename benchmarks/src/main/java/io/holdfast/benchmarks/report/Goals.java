package io.holdfast.benchmarks.report;

import io.holdfast.benchmarks.report.Goal.Bound;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What Holdfast wants to be, as ratios in one run. */
public final class Goals {

    private static final String PEER = "peer";
    private static final String ELECTION = "ElectionHandOver";
    private static final String HOLDFAST = "HOLDFAST";
    private static final String HAND_OVER = "HAND_OVER";
    private static final String REDISSON = "REDISSON";
    private static final String REDISSON_PLAIN = "Redisson, plain";
    private static final String RAW = "LETTUCE";
    private static final String RAW_NAME = "raw Lettuce";
    private static final String SPRING = "SPRING";
    private static final String SPRING_NAME = "Spring Integration";
    private static final String ADVISORY = "ADVISORY";
    private static final String ADVISORY_NAME = "advisory lock";
    private static final String IN_FLIGHT = "inFlight";
    private static final double NO_WORSE = 1;
    private static final Map<String, String> HELD = Map.of("leases", "100000");

    private Goals() {}

    /** All of them, in the order of the table. */
    public static List<Goal> all() {
        List<Goal> goals = new ArrayList<>();
        for (String locks : List.of("1", "64", "1024")) {
            Selector cycles = redis(Sample.THROUGHPUT, locks);
            String workload = "Redis, uncontended, %s in flight, cycles/s".formatted(locks);
            goals.add(peers(workload, cycles, RAW, RAW_NAME, Bound.AT_LEAST, 0.9));
            // With one lock in flight, both wait for the server most of the time.
            goals.add(
                    peers(workload, cycles, REDISSON, "Redisson", Bound.AT_LEAST, locks.equals("1") ? NO_WORSE : 2.5));
            goals.add(peers(workload, cycles, SPRING, SPRING_NAME, Bound.AT_LEAST, NO_WORSE));
        }
        goals.addAll(oneLock("two processes", "2", 3));
        goals.addAll(oneLock("one process", "1", NO_WORSE));
        goals.add(handOff(1.3));
        goals.addAll(redlock());
        goals.addAll(zookeeper());
        goals.addAll(allocation());
        goals.addAll(leases());
        return goals;
    }

    /**
     * What the Redis module works towards, in the order of the table. Some limits are stricter than those of {@link #all}, which the
     * stored reports are judged by.
     */
    public static List<Goal> ofRedis() {
        List<Goal> goals = new ArrayList<>();
        Map<String, Double> overRaw = Map.of("1", 0.95, "64", 1.3, "1024", 1.6);
        for (String locks : List.of("1", "64", "1024")) {
            goals.add(peers(
                    "Redis, uncontended, %s in flight, cycles/s".formatted(locks),
                    redis(Sample.THROUGHPUT, locks),
                    RAW,
                    RAW_NAME,
                    Bound.AT_LEAST,
                    overRaw.getOrDefault(locks, NO_WORSE)));
        }
        goals.add(peers(
                "Redis, uncontended, 1024 in flight, CPU of the server per cycle, µs",
                redis(Sample.SERVER_CPU, "1024"),
                RAW,
                RAW_NAME,
                Bound.AT_MOST,
                0.6));
        goals.add(handOff(1.4));
        for (String waiters : List.of("10", "100", "1000")) {
            goals.add(peers(
                    "Redis, one lock, %s waiters in one process, cycles/s".formatted(waiters),
                    oneLock(Sample.THROUGHPUT, waiters, "1"),
                    REDISSON,
                    REDISSON_PLAIN,
                    Bound.AT_LEAST,
                    3));
        }
        Selector serverCpu = oneLock(Sample.SERVER_CPU, "100", "1").with(PEER, HOLDFAST);
        goals.add(alone("Redis, one lock, 100 waiters, CPU of the server per hand-off", "1 µs", serverCpu, 50));
        goals.add(heldLeases(0.05));
        Selector bytes = redis(Sample.ALLOCATION, "64").with(PEER, HOLDFAST);
        goals.add(alone("Redis, allocation per uncontended cycle, bytes", "1 byte", bytes, 4_500));
        return goals;
    }

    /** What Redlock works towards, in the order of the table. Stricter than {@link #all}. */
    public static List<Goal> ofRedlock() {
        List<Goal> goals = new ArrayList<>();
        Map<String, Double> overRaw = Map.of("1", 0.8, "64", 0.9);
        for (String locks : List.of("1", "64")) {
            Selector healthy = redlock(Sample.THROUGHPUT, locks);
            goals.add(peers(
                    "Redlock, five masters, %s in flight, cycles/s".formatted(locks),
                    healthy,
                    RAW,
                    "five raw parallel requests",
                    Bound.AT_LEAST,
                    overRaw.getOrDefault(locks, NO_WORSE)));
        }
        for (String locks : List.of("1", "64")) {
            Selector healthy = redlock(Sample.THROUGHPUT, locks).with(PEER, HOLDFAST);
            // A cycle may take a twentieth longer.
            goals.add(new Goal(
                    "Redlock, one master hung, %s in flight, cycles/s".formatted(locks),
                    "all healthy",
                    healthy.with("masters", "ONE_HUNG"),
                    healthy,
                    Bound.AT_LEAST,
                    1 / 1.05));
        }
        Selector bytes = redlock(Sample.ALLOCATION, "64").with(PEER, HOLDFAST);
        goals.add(alone("Redlock, allocation per uncontended cycle, bytes", "1 byte", bytes, 14_000));
        return goals;
    }

    /** What the ZooKeeper module works towards, in the order of the table. Most limits are stricter than those of {@link #all}. */
    public static List<Goal> ofZooKeeper() {
        List<Goal> goals = new ArrayList<>(overCurator(Map.of("1", 1.2, "64", 1.3)));
        goals.add(peers(
                "ZooKeeper, names that are used once, 64 in flight, cycles/s",
                new Selector("ZooKeeperFreshNames", Sample.THROUGHPUT, Map.of(IN_FLIGHT, "64")),
                "CURATOR",
                "Curator",
                Bound.AT_LEAST,
                1.3));
        Selector contended = new Selector("ZooKeeperContended", Sample.THROUGHPUT, Map.of("waiters", "100"));
        goals.add(peers(
                "ZooKeeper, one lock, 100 waiters in one process, cycles/s",
                contended.with("processes", "1"),
                "CURATOR",
                "Curator",
                Bound.AT_LEAST,
                2));
        goals.add(peers(
                "ZooKeeper, one lock, 100 waiters in two processes, cycles/s",
                contended.with("processes", "2"),
                "CURATOR",
                "Curator",
                Bound.AT_LEAST,
                1.4));
        goals.add(zookeeperBytes());
        return goals;
    }

    /** What locks in PostgreSQL work towards, and how other ways to lock there compare, in the order of the table. */
    public static List<Goal> ofPostgres() {
        List<Goal> goals = new ArrayList<>();
        Map<String, Double> overRaw = Map.of("1", 0.9, "64", 3.0, "1024", 3.0);
        for (String locks : List.of("1", "64", "1024")) {
            Selector cycles = new Selector("PostgresUncontended", Sample.THROUGHPUT, Map.of(IN_FLIGHT, locks));
            String workload = "PostgreSQL, uncontended, %s in flight, cycles/s".formatted(locks);
            goals.add(peers(
                    workload, cycles, "RAW", "its functions, bare", Bound.AT_LEAST, overRaw.getOrDefault(locks, 1.0)));
            goals.add(peers(workload, cycles, SPRING, "JdbcLockRegistry", Bound.AT_LEAST, NO_WORSE));
            goals.add(peers(workload, cycles, "SHEDLOCK", "ShedLock, R2DBC", Bound.AT_LEAST, NO_WORSE));
        }
        for (String processes : List.of("1", "2")) {
            Selector handOffs = new Selector(
                    "PostgresContended", Sample.THROUGHPUT, Map.of("waiters", "100", "processes", processes));
            String workload = "PostgreSQL, one lock, 100 waiters in %s, cycles/s"
                    .formatted(processes.equals("1") ? "one process" : "two processes");
            double overSpring = processes.equals("1") ? 1.8 : 1.5;
            goals.add(peers(workload, handOffs, SPRING, "JdbcLockRegistry", Bound.AT_LEAST, overSpring));
            goals.add(peers(workload, handOffs, "COMMIT", "commits, one after the other", Bound.AT_LEAST, 0.5));
        }
        return goals;
    }

    /**
     * What the picture of all ratios shows beside {@link #ofPostgres}: an advisory lock. It has no lease and no token, so no goal is about it.
     */
    public static List<Goal> besidePostgres() {
        List<Goal> goals = new ArrayList<>();
        for (String locks : List.of("1", "64")) {
            Selector cycles = new Selector("PostgresUncontended", Sample.THROUGHPUT, Map.of(IN_FLIGHT, locks));
            String workload = "PostgreSQL, uncontended, %s in flight, cycles/s".formatted(locks);
            goals.add(peers(workload, cycles, ADVISORY, ADVISORY_NAME, Bound.AT_LEAST, NO_WORSE));
        }
        Selector handOffs =
                new Selector("PostgresContended", Sample.THROUGHPUT, Map.of("waiters", "100", "processes", "1"));
        String workload = "PostgreSQL, one lock, 100 waiters in one process, cycles/s";
        goals.add(peers(workload, handOffs, ADVISORY, ADVISORY_NAME, Bound.AT_LEAST, NO_WORSE));
        return goals;
    }

    /** What waiters at ZooKeeper need: no thread. Curator's need one each. */
    public static List<Goal> ofWaiting() {
        Selector threads = new Selector("WaitingThreads", "threads more", Map.of("waiters", "1000", PEER, HOLDFAST));
        return List.of(alone("ZooKeeper, 1000 waiters of one process, threads", "1 thread", threads, 0));
    }

    /** How fast another candidate leads: at once when the leader resigns, and when its lease or session is over when it is killed. */
    public static List<Goal> ofElection() {
        List<Goal> goals = new ArrayList<>();
        for (String store : List.of("REDIS", "ZOOKEEPER")) {
            Map<String, String> parameters = Map.of("store", store);
            String name = store.equals("REDIS") ? "Redis" : "ZooKeeper";
            goals.add(alone(
                    name + ", the leader resigns, ms until another one leads",
                    "1 ms",
                    new Selector(ELECTION, "p50 ms", parameters).with("leader", "RESIGNS"),
                    200)); // the process that ends loads the classes for that
            goals.add(alone(
                    name + ", the leader is killed, longest ms until another one leads",
                    "1 ms",
                    new Selector(ELECTION, "max ms", parameters).with("leader", "IS_KILLED"),
                    store.equals("REDIS") ? 4_500 : 6_500));
        }
        return goals;
    }

    /** What a hand-over inside a process works towards, beside the same without it, in the order of the table. */
    public static List<Goal> ofHandOver() {
        List<Goal> goals = new ArrayList<>();
        goals.add(handedOver("Redis, one lock, 256 flows of one process, cycles/s", "256", "1", 5));
        goals.add(handedOver("Redis, one lock, 10 flows of one process, cycles/s", "10", "1", 8));
        goals.add(handedOver("Redis, one lock, 128 flows in each of two processes, cycles/s", "256", "2", 20));
        Selector quorum = new Selector("RedlockContended", Sample.THROUGHPUT, Map.of("waiters", "64"));
        goals.add(handedOver("Redlock, one lock, 64 flows of one process, cycles/s", quorum, 100));
        Selector serverCpu = oneLock(Sample.SERVER_CPU, "256", "1").with(PEER, HAND_OVER);
        goals.add(alone("Redis, one lock, 256 flows, CPU of the server per hand-off", "1 µs", serverCpu, 2));
        goals.add(handedOver("Redis, uncontended, one flow, cycles/s", redis(Sample.THROUGHPUT, "1"), 0.97));
        for (String flows : List.of("256", "1000")) {
            Selector shares = oneLock(Sample.LEAST_SHARE, flows, "2").with(PEER, HAND_OVER);
            goals.add(new Goal(
                    "Redis, one lock, %s flows in two processes, least share to greatest".formatted(flows),
                    "1",
                    shares,
                    null,
                    Bound.AT_LEAST,
                    0.9));
        }
        // A turn of the other process, the round trips around it, and what the machine adds.
        Selector pause = oneLock(Sample.LONGEST_PAUSE, "1000", "2").with(PEER, HAND_OVER);
        goals.add(alone("Redis, one lock, 1000 flows in two processes, longest pause of one", "1 ms", pause, 20));
        return goals;
    }

    private static Goal handedOver(String workload, String flows, String processes, double atLeast) {
        return handedOver(workload, oneLock(Sample.THROUGHPUT, flows, processes), atLeast);
    }

    private static Goal handedOver(String workload, Selector both, double atLeast) {
        return new Goal(
                workload,
                "without a hand-over",
                both.with(PEER, HAND_OVER),
                both.with(PEER, HOLDFAST),
                Bound.AT_LEAST,
                atLeast);
    }

    private static Selector redlock(String metric, String locks) {
        return new Selector("RedlockUncontended", metric, Map.of(IN_FLIGHT, locks, "masters", "HEALTHY"));
    }

    private static Goal alone(String workload, String unit, Selector measured, double atMost) {
        return new Goal(workload, unit, measured, null, Bound.AT_MOST, atMost);
    }

    private static Selector redis(String metric, String locks) {
        return new Selector("RedisUncontended", metric, Map.of(IN_FLIGHT, locks));
    }

    private static Selector oneLock(String metric, String waiters, String processes) {
        return new Selector("RedisContended", metric, Map.of("waiters", waiters, "processes", processes));
    }

    private static List<Goal> oneLock(String where, String processes, double overRedisson) {
        List<Goal> goals = new ArrayList<>();
        for (String waiters : List.of("10", "100", "1000")) {
            Selector handOffs = oneLock(Sample.THROUGHPUT, waiters, processes);
            String workload = "Redis, one lock, %s waiters in %s, cycles/s".formatted(waiters, where);
            goals.add(peers(workload, handOffs, REDISSON, REDISSON_PLAIN, Bound.AT_LEAST, overRedisson));
            goals.add(peers(workload, handOffs, "REDISSON_FAIR", "Redisson, fair", Bound.AT_LEAST, NO_WORSE));
            goals.add(peers(workload, handOffs, SPRING, SPRING_NAME, Bound.AT_LEAST, NO_WORSE));
        }
        return goals;
    }

    private static List<Goal> allocation() {
        Selector redis = redis(Sample.ALLOCATION, "64");
        String ofRedis = "Redis, allocation per uncontended cycle, bytes";
        return List.of(
                peers(ofRedis, redis, REDISSON, "Redisson", Bound.AT_MOST, 0.5),
                peers(ofRedis, redis, SPRING, SPRING_NAME, Bound.AT_MOST, NO_WORSE),
                zookeeperBytes());
    }

    private static Goal zookeeperBytes() {
        return peers(
                "ZooKeeper, allocation per uncontended cycle, bytes",
                new Selector("ZooKeeperUncontended", Sample.ALLOCATION, Map.of(IN_FLIGHT, "64")),
                "CURATOR",
                "Curator",
                Bound.AT_MOST,
                NO_WORSE);
    }

    private static Goal peers(String workload, Selector both, String peer, String against, Bound bound, double limit) {
        return new Goal(workload, against, both.with(PEER, HOLDFAST), both.with(PEER, peer), bound, limit);
    }

    private static Goal handOff(double atMost) {
        Map<String, String> parameters = Map.of(PEER, HOLDFAST, "waiters", "2");
        return new Goal(
                "Redis, release to next holder, p50 in µs",
                "a raw round trip",
                new Selector("HandOff", "p50 µs", parameters),
                new Selector("HandOff", "round trip p50 µs", parameters),
                Bound.AT_MOST,
                atMost);
    }

    private static List<Goal> redlock() {
        Selector healthy = new Selector(
                "RedlockUncontended", Sample.THROUGHPUT, Map.of(IN_FLIGHT, "1", "masters", "HEALTHY", PEER, HOLDFAST));
        return List.of(
                new Goal(
                        "Redlock, five masters, cycles/s",
                        "five raw parallel requests",
                        healthy,
                        healthy.with(PEER, "LETTUCE"),
                        Bound.AT_LEAST,
                        0.8),
                // A cycle may take a fifth longer.
                new Goal(
                        "Redlock, one master hung, cycles/s",
                        "all healthy",
                        healthy.with("masters", "ONE_HUNG"),
                        healthy,
                        Bound.AT_LEAST,
                        1 / 1.2));
    }

    private static List<Goal> zookeeper() {
        List<Goal> goals = new ArrayList<>(overCurator(Map.of("1", 1.2, "64", 1.0)));
        Selector contended =
                new Selector("ZooKeeperContended", Sample.THROUGHPUT, Map.of("waiters", "100", "processes", "1"));
        goals.add(peers(
                "ZooKeeper, one lock, 100 waiters, cycles/s", contended, "CURATOR", "Curator", Bound.AT_LEAST, 1.3));
        return goals;
    }

    private static List<Goal> overCurator(Map<String, Double> limits) {
        List<Goal> goals = new ArrayList<>();
        for (String locks : List.of("1", "64")) {
            Selector cycles = new Selector("ZooKeeperUncontended", Sample.THROUGHPUT, Map.of(IN_FLIGHT, locks));
            String workload = "ZooKeeper, uncontended, %s in flight, cycles/s".formatted(locks);
            goals.add(peers(workload, cycles, "CURATOR", "Curator", Bound.AT_LEAST, limits.getOrDefault(locks, 1.0)));
            goals.add(peers(workload, cycles, "RAW", "raw asynchronous calls", Bound.AT_LEAST, 0.85));
        }
        return goals;
    }

    private static List<Goal> leases() {
        return List.of(
                heldLeases(0.1),
                alone(
                        "100,000 held leases of 30 s, bytes of heap per lease",
                        "1 byte",
                        new Selector("HeldLeases", "heap bytes/lease", HELD),
                        1024));
    }

    private static Goal heldLeases(double atMost) {
        return alone(
                "100,000 held leases of 30 s, cores of the client",
                "one core",
                new Selector("HeldLeases", "cores", HELD),
                atMost);
    }
}
