package io.holdfast.benchmarks.report;

import io.holdfast.benchmarks.report.Picture.Form;
import io.holdfast.benchmarks.report.Picture.Source;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The charts of a run. */
public final class Pictures {

    private static final String CYCLES = "Cycles per second, more is better";
    private static final String BYTES = "Bytes for each cycle, less is better";
    private static final String PROCESSES = "processes";
    private static final String WAITERS = "waiters";
    private static final String IN_FLIGHT = "inFlight";
    private static final String LEASES = "leases";

    private Pictures() {}

    /** All that are drawn, when the run has their samples. */
    public static List<Picture> all() {
        List<Picture> all = new ArrayList<>();
        all.add(uncontended("redis-uncontended", "Acquire and release on Redis, without contention", "Redis"));
        all.add(new Picture(
                "redis-allocation",
                "Heap that an acquire and a release allocate, on Redis",
                BYTES,
                List.of(of("RedisUncontended", Sample.ALLOCATION)),
                List.of(IN_FLIGHT),
                Form.BARS));
        all.add(contended("redis-contended", "One lock on Redis, with waiters in two processes", "2"));
        all.add(contended("redis-growth-waiters", "One lock on Redis, with waiters in one process", "1"));
        all.add(handOff());
        all.add(new Picture(
                "redis-commands",
                "Commands that an acquire and a release send to Redis",
                "Commands for each cycle, less is better",
                List.of(of("Commands", "on the wire")),
                List.of(WAITERS),
                Form.BARS));
        all.addAll(heldLeases());
        all.add(uncontended("redlock", "Acquire and release on five Redlock masters, without contention", "Redlock"));
        all.add(contended("redlock-contended", "One lock on five Redlock masters", of("RedlockContended")));
        all.add(uncontended(
                "zookeeper-uncontended", "Acquire and release on ZooKeeper, without contention", "ZooKeeper"));
        all.add(contended("zookeeper-contended", "One lock on ZooKeeper", of("ZooKeeperContended")));
        all.add(uncontended(
                "postgres-uncontended", "Acquire and release on PostgreSQL, without contention", "Postgres"));
        all.add(contended("postgres-contended", "One lock on PostgreSQL", of("PostgresContended")));
        return all;
    }

    private static Picture uncontended(String file, String title, String store) {
        return new Picture(file, title, CYCLES, List.of(of(store + "Uncontended")), List.of(IN_FLIGHT), Form.BARS);
    }

    private static Picture contended(String file, String title, Source of) {
        return new Picture(file, title, CYCLES, List.of(of), List.of(WAITERS, PROCESSES), Form.BARS);
    }

    private static Picture contended(String file, String title, String processes) {
        Selector of = new Selector("RedisContended", Sample.THROUGHPUT, Map.of(PROCESSES, processes));
        return new Picture(
                file, title, CYCLES, List.of(new Source(of, Map.of())), List.of(WAITERS), Form.LINES_OR_BARS);
    }

    /** Medians and 99th percentiles. Beside them is a round trip, which was measured with Holdfast. */
    private static Picture handOff() {
        Map<String, String> times = Map.of("p50", "50 of 100 are faster", "p99", "99 of 100 are faster");
        List<Source> sources = new ArrayList<>();
        times.forEach((metric, words) -> {
            sources.add(new Source(new Selector("HandOff", metric + " µs", Map.of()), Map.of("of", words)));
            sources.add(new Source(
                    new Selector("HandOff", "round trip " + metric + " µs", Map.of(Picture.PEER, "HOLDFAST")),
                    Map.of("of", words, Picture.PEER, Contender.ROUND_TRIP.name())));
        });
        return new Picture(
                "redis-hand-off",
                "From a release to the next holder, on Redis",
                "Microseconds, less is better",
                sources,
                List.of(WAITERS, "of"),
                Form.BARS);
    }

    private static List<Picture> heldLeases() {
        List<Source> cores = List.of(
                new Source(new Selector("HeldLeases", "cores", Map.of()), Map.of(Picture.PEER, "CLIENT")),
                new Source(
                        new Selector("HeldLeases", "cores of the server", Map.of()), Map.of(Picture.PEER, "SERVER")));
        return List.of(
                new Picture(
                        "redis-growth-leases",
                        "Processor time for the renewal of held leases, on Redis",
                        "Cores in use, less is better",
                        cores,
                        List.of(LEASES),
                        Form.PROPORTIONS),
                new Picture(
                        "redis-growth-heap",
                        "Heap of a client for each lease that it holds, on Redis",
                        "Bytes for each lease, less is better",
                        List.of(of("HeldLeases", "heap bytes/lease")),
                        List.of(LEASES),
                        Form.LINES));
    }

    private static Source of(String benchmark) {
        return of(benchmark, Sample.THROUGHPUT);
    }

    private static Source of(String benchmark, String metric) {
        return new Source(new Selector(benchmark, metric, Map.of()), Map.of());
    }
}
