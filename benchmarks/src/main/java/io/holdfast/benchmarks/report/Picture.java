package io.holdfast.benchmarks.report;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A chart: medians of one metric, over one parameter, one series for each value of another.
 *
 * @param file its name, without an extension
 * @param title for people
 * @param unit of the values
 * @param of which samples
 * @param over the parameter of the horizontal axis
 * @param series the parameter that tells the series apart; empty for one series
 */
public record Picture(String file, String title, String unit, Selector of, String over, String series) {

    /** All that are drawn, when the run has their samples. */
    public static List<Picture> all() {
        return List.of(
                cycles("redis-uncontended", "Redis: cycles of uncontended locks", "RedisUncontended", "inFlight"),
                new Picture(
                        "redis-allocation",
                        "Redis: heap allocated per cycle",
                        "bytes",
                        new Selector("RedisUncontended", Sample.ALLOCATION, Map.of()),
                        "inFlight",
                        "peer"),
                new Picture(
                        "redis-contended",
                        "Redis: one lock, waiters in two processes",
                        "hand-offs per second",
                        new Selector("RedisContended", Sample.THROUGHPUT, Map.of("processes", "2")),
                        "waiters",
                        "peer"),
                new Picture(
                        "redis-growth-waiters",
                        "Redis: one lock, more and more waiters",
                        "hand-offs per second",
                        new Selector("RedisContended", Sample.THROUGHPUT, Map.of("processes", "1")),
                        "waiters",
                        "peer"),
                new Picture(
                        "redis-hand-off",
                        "Redis: from release to next holder, median",
                        "microseconds",
                        new Selector("HandOff", "p50 µs", Map.of()),
                        "waiters",
                        "peer"),
                new Picture(
                        "redis-hand-off-p99",
                        "Redis: from release to next holder, 99 of 100",
                        "microseconds",
                        new Selector("HandOff", "p99 µs", Map.of()),
                        "waiters",
                        "peer"),
                new Picture(
                        "redis-commands",
                        "Redis: commands on the wire per cycle",
                        "commands",
                        new Selector("Commands", "on the wire", Map.of()),
                        "waiters",
                        "peer"),
                new Picture(
                        "redis-growth-leases",
                        "Redis: CPU of the client that renews held leases",
                        "cores",
                        new Selector("HeldLeases", "cores", Map.of()),
                        "leases",
                        ""),
                new Picture(
                        "redis-growth-heap",
                        "Redis: heap of the client for each held lease",
                        "bytes",
                        new Selector("HeldLeases", "heap bytes/lease", Map.of()),
                        "leases",
                        ""),
                new Picture(
                        "redlock",
                        "Redlock: cycles at five masters, one at a time",
                        "cycles per second",
                        new Selector("RedlockUncontended", Sample.THROUGHPUT, Map.of("inFlight", "1")),
                        "masters",
                        "peer"),
                cycles(
                        "zookeeper-uncontended",
                        "ZooKeeper: cycles of uncontended locks",
                        "ZooKeeperUncontended",
                        "inFlight"),
                new Picture(
                        "zookeeper-contended",
                        "ZooKeeper: one lock, waiters in one process",
                        "hand-offs per second",
                        new Selector("ZooKeeperContended", Sample.THROUGHPUT, Map.of("processes", "1")),
                        "waiters",
                        "peer"));
    }

    private static Picture cycles(String file, String title, String benchmark, String over) {
        Selector of = new Selector(benchmark, Sample.THROUGHPUT, Map.of());
        return new Picture(file, title, "cycles per second", of, over, "peer");
    }

    /**
     * The values of each series, in the order of {@link #ticks}; without those that were not measured.
     *
     * @param samples of the run
     */
    public Map<String, Map<String, Double>> lines(Collection<Sample> samples) {
        Map<String, Map<String, Double>> lines = new LinkedHashMap<>();
        for (String name : values(samples, series)) {
            Map<String, Double> line = new LinkedHashMap<>();
            for (String tick : ticks(samples)) {
                List<Double> numbers = samples.stream()
                        .filter(of::selects)
                        .filter(it -> parameter(it, series).equals(name))
                        .filter(it -> parameter(it, over).equals(tick))
                        .map(Sample::value)
                        .toList();
                Optional<Spread> spread = Spread.of(numbers);
                if (spread.isPresent()) {
                    line.put(tick, spread.get().median());
                }
            }
            lines.put(name, line);
        }
        return lines;
    }

    /** The values of the horizontal axis: numbers by size, others as they came. */
    public List<String> ticks(Collection<Sample> samples) {
        return values(samples, over);
    }

    private List<String> values(Collection<Sample> samples, String name) {
        return samples.stream()
                .filter(of::selects)
                .map(it -> parameter(it, name))
                .distinct()
                .sorted(Comparator.comparingLong(Picture::size))
                .toList();
    }

    private static String parameter(Sample sample, String name) {
        return sample.parameters().getOrDefault(name, "");
    }

    private static long size(String value) {
        return value.matches("\\d+") ? Long.parseLong(value) : 0;
    }
}
