package io.holdfast.benchmarks;

import io.holdfast.benchmarks.crowd.Kind;
import io.holdfast.benchmarks.load.MasterFaults.Health;
import io.holdfast.benchmarks.peer.PostgresPeer;
import io.holdfast.benchmarks.peer.QuorumPeer;
import io.holdfast.benchmarks.peer.RedisPeer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The measurements of a run.
 *
 * @param rounds the number of rounds; everything runs once in each
 * @param warmUpSeconds the warm-up time of each process
 * @param seconds the measured time of each process
 * @param comparisons the comparisons of peers whose processes stay for all rounds
 * @param series the benchmarks of JMH, each combination in a process of its own
 * @param watches the observations of each round: a name and arguments
 * @param once the observations of the first round only, which take long or do not vary
 */
record Plan(
        int rounds,
        int warmUpSeconds,
        int seconds,
        List<Comparison> comparisons,
        List<Series> series,
        List<List<String>> watches,
        List<List<String>> once) {

    /** After this time, the compiler has compiled nearly all code of a cycle. */
    private static final int WARM_UP_SECONDS = 10;

    /** The shortest session time-out of a ZooKeeper with a tick of two seconds. */
    private static final String LEADERS_LEASE_MILLIS = "4000";

    private static final String PEER = "peer";
    private static final String IN_FLIGHT = "inFlight";
    private static final String WAITERS = "waiters";
    private static final String PROCESSES = "processes";
    private static final String MASTERS = "masters";
    private static final String REDLOCK = "RedlockUncontended";

    /**
     * A benchmark with each combination of these parameters.
     *
     * @param benchmark the simple name of its class
     * @param parameters names and values
     */
    record Series(String benchmark, Map<String, List<String>> parameters) {

        /** Returns the number of combinations. */
        int size() {
            return parameters.values().stream().mapToInt(List::size).reduce(1, (one, other) -> one * other);
        }
    }

    /** The goals of the Redis module, in under four minutes on two cores: what to run after each change to it. */
    static Plan redis() {
        List<Comparison> comparisons = List.of(
                Comparison.uncontended(List.of(RedisPeer.HOLDFAST, RedisPeer.LETTUCE), 1, 64, 1024),
                Comparison.contended(1, List.of(RedisPeer.HOLDFAST, RedisPeer.REDISSON), 10, 100, 1000));
        List<List<String>> once =
                List.of(List.of("HandOff", "HOLDFAST", "2", "4"), List.of("HeldLeases", "100000", "20"));
        return new Plan(5, WARM_UP_SECONDS, 1, comparisons, List.of(), List.of(), once);
    }

    /** The goals of Redlock, in under four minutes on two cores: what to run after each change to it. */
    static Plan redlock() {
        List<Comparison> comparisons = List.of(Comparison.quorum(
                List.of(QuorumPeer.HOLDFAST, QuorumPeer.LETTUCE), List.of(Health.HEALTHY, Health.ONE_HUNG), 1, 64));
        return new Plan(9, 20, 1, comparisons, List.of(), List.of(), List.of());
    }

    /** The goals of the ZooKeeper module, in under ten minutes on two cores: each process starts anew, and warms up. */
    static Plan zookeeper() {
        List<Series> series = new ArrayList<>(zookeeper(List.of("1", "2")));
        series.add(freshNames());
        return new Plan(3, WARM_UP_SECONDS, 3, List.of(), series, List.of(), List.of());
    }

    private static List<Series> zookeeper(List<String> processes) {
        return List.of(
                new Series(
                        "ZooKeeperUncontended",
                        Map.of(PEER, List.of("HOLDFAST", "RAW", "CURATOR"), IN_FLIGHT, List.of("1", "64"))),
                new Series(
                        "ZooKeeperContended",
                        Map.of(
                                PEER, List.of("HOLDFAST", "CURATOR"),
                                WAITERS, List.of("100"),
                                PROCESSES, processes)));
    }

    private static Series freshNames() {
        return new Series(
                "ZooKeeperFreshNames", Map.of(PEER, List.of("HOLDFAST", "CURATOR"), IN_FLIGHT, List.of("64")));
    }

    /** The goals of locks in PostgreSQL, and other ways to lock there, in under seven minutes on two cores. */
    static Plan postgres() {
        List<Comparison> comparisons = List.of(
                Comparison.postgres(
                        List.of(
                                PostgresPeer.HOLDFAST,
                                PostgresPeer.RAW,
                                PostgresPeer.ADVISORY,
                                PostgresPeer.SPRING,
                                PostgresPeer.SHEDLOCK),
                        1,
                        64),
                Comparison.postgres(List.of(PostgresPeer.HOLDFAST, PostgresPeer.RAW), 1024),
                Comparison.contendedPostgres(
                        1,
                        List.of(PostgresPeer.HOLDFAST, PostgresPeer.COMMIT, PostgresPeer.ADVISORY, PostgresPeer.SPRING),
                        100),
                Comparison.contendedPostgres(2, List.of(PostgresPeer.HOLDFAST, PostgresPeer.SPRING), 100));
        List<List<String>> once = List.of(
                databaseCosts(PostgresPeer.HOLDFAST, "1"),
                databaseCosts(PostgresPeer.HOLDFAST, "64"),
                databaseCosts(PostgresPeer.RAW, "64"),
                databaseCosts(PostgresPeer.SPRING, "64"),
                databaseCosts(PostgresPeer.SHEDLOCK, "64"));
        return new Plan(3, WARM_UP_SECONDS, 2, comparisons, List.of(), List.of(), once);
    }

    private static List<String> databaseCosts(PostgresPeer peer, String inFlight) {
        return List.of("DatabaseCosts", peer.name(), inFlight);
    }

    boolean needsPostgres() {
        return comparisons.stream().anyMatch(Comparison::isPostgres)
                || once.stream().anyMatch(it -> it.get(0).equals("DatabaseCosts"));
    }

    /** The threads of waiters at ZooKeeper, in under forty seconds on two cores. */
    static Plan waiting() {
        return new Plan(
                1,
                WARM_UP_SECONDS,
                1,
                List.of(),
                List.of(),
                List.of(),
                List.of(waitingThreads("HOLDFAST"), waitingThreads("CURATOR")));
    }

    /** How fast another candidate leads when the leader ends, in under four minutes on two cores. */
    static Plan election() {
        List<List<String>> once = new ArrayList<>();
        for (String store : List.of("REDIS", "ZOOKEEPER")) {
            for (String end : List.of("RESIGNS", "IS_KILLED")) {
                once.add(List.of("ElectionHandOver", store, end, LEADERS_LEASE_MILLIS, "9"));
            }
        }
        return new Plan(1, WARM_UP_SECONDS, 1, List.of(), List.of(), List.of(), once);
    }

    /** The cost of commands at a Redis with a thousand clients, for the simulation of ten thousand. In under three minutes on two cores. */
    static Plan capacity() {
        List<List<String>> once = List.of(
                manyClients("CYCLES", "0"),
                manyClients("HELD", "1"),
                manyClients("HELD", "20"),
                manyClients("WAITING", "0"));
        return new Plan(1, WARM_UP_SECONDS, 1, List.of(), List.of(), List.of(), once);
    }

    /** One lock that many want, while waiters give up, are refused, die or hang. In under six minutes on two cores. */
    static Plan crowded() {
        List<List<String>> once = Stream.of(Kind.values())
                .map(kind -> List.of("CrowdedLock", kind.name(), "5", "1"))
                .toList();
        return new Plan(1, WARM_UP_SECONDS, 1, List.of(), List.of(), List.of(), once);
    }

    private static List<String> manyClients(String load, String leases) {
        return List.of("ManyClients", load, "1000", leases, "20");
    }

    private static List<String> waitingThreads(String peer) {
        return List.of("WaitingThreads", peer, "1000");
    }

    /** A hand-over inside processes, beside the same without it. In under four minutes on two cores. */
    static Plan handOver() {
        List<RedisPeer> both = List.of(RedisPeer.HAND_OVER, RedisPeer.HOLDFAST);
        List<Comparison> comparisons = List.of(
                Comparison.contended(1, both, 10, 256),
                Comparison.contended(2, both, 256, 1000),
                Comparison.contendedQuorum(List.of(QuorumPeer.HAND_OVER, QuorumPeer.HOLDFAST), 64),
                Comparison.uncontended(both, 1));
        return new Plan(5, WARM_UP_SECONDS, 1, comparisons, List.of(), List.of(), List.of());
    }

    /** In under fifteen minutes on two cores. */
    static Plan quick() {
        List<RedisPeer> peers = List.of(RedisPeer.HOLDFAST, RedisPeer.LETTUCE, RedisPeer.REDISSON);
        List<Comparison> comparisons = List.of(
                Comparison.uncontended(peers, 1, 64, 1024),
                Comparison.contended(2, List.of(RedisPeer.HOLDFAST, RedisPeer.REDISSON), 100));
        List<Series> series = new ArrayList<>(List.of(
                redlock(List.of("HOLDFAST", "LETTUCE"), List.of("1"), List.of("HEALTHY")),
                redlock(List.of("HOLDFAST"), List.of("1"), List.of("ONE_HUNG"))));
        series.addAll(zookeeper(List.of("1")));
        List<List<String>> watches = List.of(List.of("HandOff", "HOLDFAST", "2", "2"));
        List<List<String>> once = List.of(
                List.of("Commands", "HOLDFAST", "1"),
                List.of("Commands", "REDISSON", "1"),
                List.of("Commands", "HOLDFAST", "10"),
                List.of("Commands", "REDISSON", "10"),
                List.of("HeldLeases", "100000", "10"));
        return new Plan(3, WARM_UP_SECONDS, 2, comparisons, series, watches, once);
    }

    /** One contended lock at Redis, in one process and in two. In under eight minutes on two cores. */
    static Plan contended() {
        List<Comparison> comparisons = oneLock(RedisPeer.HOLDFAST, RedisPeer.REDISSON);
        return new Plan(3, WARM_UP_SECONDS, 3, comparisons, List.of(), List.of(), List.of());
    }

    /** Everything, in hours. */
    static Plan all() {
        List<Comparison> comparisons = new ArrayList<>();
        comparisons.add(Comparison.uncontended(withoutHandOver(), 1, 64, 1024));
        comparisons.addAll(oneLock(RedisPeer.HOLDFAST, RedisPeer.REDISSON, RedisPeer.SPRING));
        // With a growing number of waiters.
        comparisons.add(Comparison.contended(1, List.of(RedisPeer.HOLDFAST), 1, 10_000));
        List<String> five = List.of("HOLDFAST", "LETTUCE", "REDISSON_MULTI");
        List<Series> series = List.of(
                redlock(five, List.of("1", "64"), List.of("HEALTHY")),
                // Redisson's MultiLock needs all five masters, so it takes no part in the rest.
                redlock(List.of("HOLDFAST", "LETTUCE"), List.of("1", "64"), List.of("TWO_DOWN", "DELAYED")),
                // Raw Lettuce waits for all answers, so a master that hangs stops it.
                redlock(List.of("HOLDFAST"), List.of("1", "64"), List.of("ONE_HUNG")),
                new Series(
                        "ZooKeeperUncontended",
                        Map.of(
                                PEER, List.of("HOLDFAST", "RAW", "CURATOR", "VERTX"),
                                IN_FLIGHT, List.of("1", "64"))),
                freshNames(),
                new Series(
                        "ZooKeeperContended",
                        Map.of(
                                PEER, List.of("HOLDFAST", "CURATOR", "VERTX"),
                                WAITERS, List.of("10", "100"),
                                PROCESSES, List.of("1", "2"))));
        List<List<String>> watches = new ArrayList<>();
        List<List<String>> once = new ArrayList<>();
        for (RedisPeer peer : withoutHandOver()) {
            if (peer == RedisPeer.LETTUCE) {
                continue;
            }
            for (String waiters : List.of("2", "10", "100")) {
                watches.add(List.of("HandOff", peer.name(), waiters, "10"));
            }
            for (String waiters : List.of("1", "2", "10")) {
                once.add(List.of("Commands", peer.name(), waiters));
            }
        }
        for (String leases : List.of("1000", "10000", "100000", "1000000")) {
            once.add(List.of("HeldLeases", leases, "40"));
        }
        return new Plan(5, WARM_UP_SECONDS, 5, comparisons, series, watches, once);
    }

    private static List<RedisPeer> withoutHandOver() {
        return Stream.of(RedisPeer.values())
                .filter(it -> it != RedisPeer.HAND_OVER)
                .toList();
    }

    /** Redisson's fair lock does not serve a thousand waiters within a minute. */
    private static List<Comparison> oneLock(RedisPeer... peers) {
        List<RedisPeer> withFair = new ArrayList<>(List.of(peers));
        withFair.add(RedisPeer.REDISSON_FAIR);
        List<Comparison> comparisons = new ArrayList<>();
        for (int processes = 1; processes <= 2; processes++) {
            comparisons.add(Comparison.contended(processes, withFair, 10, 100));
            comparisons.add(Comparison.contended(processes, List.of(peers), 1000));
        }
        return comparisons;
    }

    private static Series redlock(List<String> peers, List<String> inFlight, List<String> masters) {
        return new Series(REDLOCK, Map.of(PEER, peers, IN_FLIGHT, inFlight, MASTERS, masters));
    }

    /** Returns the plan with other rounds and seconds. */
    Plan lasting(int itsRounds, int itsWarmUpSeconds, int itsSeconds) {
        return new Plan(itsRounds, itsWarmUpSeconds, itsSeconds, comparisons, series, watches, once);
    }

    /** Returns the part of the plan whose names contain this text. */
    Plan only(String part) {
        return new Plan(
                rounds,
                warmUpSeconds,
                seconds,
                comparisons.stream().filter(it -> it.benchmark().contains(part)).toList(),
                series.stream().filter(it -> it.benchmark().contains(part)).toList(),
                named(watches, part),
                named(once, part));
    }

    /** Returns the observations of a round; rounds count from 1. */
    List<List<String>> watchesOf(int round) {
        return round == 1 ? Stream.concat(watches.stream(), once.stream()).toList() : watches;
    }

    private static List<List<String>> named(List<List<String>> some, String part) {
        return some.stream().filter(it -> it.get(0).contains(part)).toList();
    }
}
