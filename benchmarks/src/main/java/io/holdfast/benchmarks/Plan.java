package io.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What a run measures.
 *
 * @param rounds in each of which everything runs once, in a process of its own
 * @param warmUpSeconds of each process
 * @param seconds that are measured in each
 * @param series of JMH
 * @param watches the observations of each round: a name and arguments
 * @param once those of the first round only, which take long or come out the same each time
 */
record Plan(
        int rounds,
        int warmUpSeconds,
        int seconds,
        List<Series> series,
        List<List<String>> watches,
        List<List<String>> once) {

    private static final String PEER = "peer";
    private static final String IN_FLIGHT = "inFlight";
    private static final String MASTERS = "masters";
    private static final String WAITERS = "waiters";
    private static final String PROCESSES = "processes";
    private static final String ONE_LOCK = "RedisContended";
    private static final String REDLOCK = "RedlockUncontended";

    /**
     * One benchmark with each combination of these parameters.
     *
     * @param benchmark the simple name of its class
     * @param parameters names and values
     */
    record Series(String benchmark, Map<String, List<String>> parameters) {

        /** How many combinations there are. */
        int size() {
            return parameters.values().stream().mapToInt(List::size).reduce(1, (one, other) -> one * other);
        }
    }

    /** In under ten minutes on two cores. */
    static Plan quick() {
        List<Series> series = List.of(
                redis(List.of("HOLDFAST", "LETTUCE"), "1"),
                redis(List.of("HOLDFAST", "LETTUCE", "REDISSON"), "64", "1024"),
                oneLock(List.of("100"), "2"),
                redlock(List.of("HOLDFAST", "LETTUCE"), List.of("1"), List.of("HEALTHY")),
                redlock(List.of("HOLDFAST"), List.of("1"), List.of("ONE_HUNG")),
                new Series(
                        "ZooKeeperUncontended",
                        Map.of(PEER, List.of("HOLDFAST", "RAW", "CURATOR"), IN_FLIGHT, List.of("1", "64"))),
                new Series(
                        "ZooKeeperContended",
                        Map.of(
                                PEER, List.of("HOLDFAST", "CURATOR"),
                                WAITERS, List.of("100"),
                                PROCESSES, List.of("1"))));
        List<List<String>> watches = List.of(List.of("HandOff", "HOLDFAST", "2", "5", "2"));
        List<List<String>> once = List.of(
                List.of("Commands", "HOLDFAST", "1"),
                List.of("Commands", "REDISSON", "1"),
                List.of("Commands", "HOLDFAST", "10"),
                List.of("Commands", "REDISSON", "10"),
                List.of("HeldLeases", "100000", "10"));
        return new Plan(3, 3, 2, series, watches, once);
    }

    /**
     * One lock at Redis that all want, after ten seconds of warm-up: what {@link #quick} has too little time for. In six minutes on two
     * cores.
     */
    static Plan contended() {
        List<Series> series = List.of(oneLock(List.of("10", "100", "1000"), "1"), oneLock(List.of("100"), "2"));
        return new Plan(3, 10, 3, series, List.of(), List.of());
    }

    private static Series oneLock(List<String> waiters, String processes) {
        return new Series(
                ONE_LOCK,
                Map.of(PEER, List.of("HOLDFAST", "REDISSON"), WAITERS, waiters, PROCESSES, List.of(processes)));
    }

    /** Everything, in hours. */
    static Plan all() {
        List<String> queues = List.of("HOLDFAST", "REDISSON", "REDISSON_FAIR", "SPRING");
        List<String> five = List.of("HOLDFAST", "LETTUCE", "REDISSON_MULTI");
        List<Series> series = List.of(
                redis(List.of("HOLDFAST", "LETTUCE", "REDISSON", "REDISSON_FAIR", "SPRING"), "1", "64", "1024"),
                new Series(
                        ONE_LOCK,
                        Map.of(PEER, queues, WAITERS, List.of("10", "100", "1000"), PROCESSES, List.of("1", "2"))),
                // How it grows.
                new Series(
                        ONE_LOCK,
                        Map.of(PEER, List.of("HOLDFAST"), WAITERS, List.of("1", "10000"), PROCESSES, List.of("1"))),
                redlock(five, List.of("1", "64"), List.of("HEALTHY")),
                // Redisson's MultiLock wants all five, so it takes no part in the rest.
                redlock(List.of("HOLDFAST", "LETTUCE"), List.of("1", "64"), List.of("ONE_HUNG", "TWO_DOWN", "DELAYED")),
                new Series(
                        "ZooKeeperUncontended",
                        Map.of(
                                PEER, List.of("HOLDFAST", "RAW", "CURATOR", "VERTX"),
                                IN_FLIGHT, List.of("1", "64"))),
                new Series(
                        "ZooKeeperContended",
                        Map.of(
                                PEER, List.of("HOLDFAST", "CURATOR", "VERTX"),
                                WAITERS, List.of("10", "100"),
                                PROCESSES, List.of("1", "2"))));
        List<List<String>> watches = new ArrayList<>();
        List<List<String>> once = new ArrayList<>();
        for (String peer : queues) {
            for (String waiters : List.of("2", "10", "100")) {
                watches.add(List.of("HandOff", peer, waiters, "5", "10"));
            }
            for (String waiters : List.of("1", "2", "10")) {
                once.add(List.of("Commands", peer, waiters));
            }
        }
        for (String leases : List.of("1000", "10000", "100000", "1000000")) {
            once.add(List.of("HeldLeases", leases, "40"));
        }
        return new Plan(5, 5, 5, series, List.copyOf(watches), List.copyOf(once));
    }

    private static Series redis(List<String> peers, String... inFlight) {
        return new Series("RedisUncontended", Map.of(PEER, peers, IN_FLIGHT, List.of(inFlight)));
    }

    private static Series redlock(List<String> peers, List<String> inFlight, List<String> masters) {
        return new Series(REDLOCK, Map.of(PEER, peers, IN_FLIGHT, inFlight, MASTERS, masters));
    }

    /** With these rounds and seconds instead. */
    Plan lasting(int itsRounds, int itsWarmUpSeconds, int itsSeconds) {
        return new Plan(itsRounds, itsWarmUpSeconds, itsSeconds, series, watches, once);
    }

    /** Only what has this in its name. */
    Plan only(String part) {
        return new Plan(
                rounds,
                warmUpSeconds,
                seconds,
                series.stream().filter(it -> it.benchmark().contains(part)).toList(),
                named(watches, part),
                named(once, part));
    }

    /** All observations of a round, counted from 1. */
    List<List<String>> watchesOf(int round) {
        return round == 1 ? Stream.concat(watches.stream(), once.stream()).toList() : watches;
    }

    private static List<List<String>> named(List<List<String>> some, String part) {
        return some.stream().filter(it -> it.get(0).contains(part)).toList();
    }
}
