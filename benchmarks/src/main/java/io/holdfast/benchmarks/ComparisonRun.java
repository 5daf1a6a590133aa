package io.holdfast.benchmarks;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.benchmarks.watch.Observation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Runs a comparison. In each round, all peers have their turn with one number of lanes before they have it with the next one. So a ratio
 * compares what was measured within seconds.
 */
final class ComparisonRun implements AutoCloseable {

    private final Comparison comparison;
    private final Addresses addresses;
    private final Duration warmUp;
    private final ServerCpu server;
    private final Map<RedisPeer, Contestant> contestants = new EnumMap<>(RedisPeer.class);

    /** Numbers of lanes with which a peer has failed: it has no more turns with them. */
    private final Map<RedisPeer, Set<Integer>> failed = new EnumMap<>(RedisPeer.class);

    private final List<String> failures = new ArrayList<>();

    /**
     * Starts nothing yet.
     *
     * @param warmUp of each peer, divided among the numbers of lanes
     */
    ComparisonRun(Comparison comparison, Addresses addresses, Duration warmUp) {
        this.comparison = comparison;
        this.addresses = addresses;
        this.warmUp = warmUp;
        server = new ServerCpu(addresses.redis());
        for (RedisPeer peer : comparison.peers()) {
            failed.put(peer, new TreeSet<>());
        }
    }

    /** Measures everything once; the first round warms up. */
    List<Observation> round(Duration time) {
        comparison.peers().forEach(this::open);
        List<Observation> observations = new ArrayList<>();
        for (int lanes : comparison.lanes()) {
            for (RedisPeer peer : comparison.peers()) {
                open(peer);
                Contestant contestant = contestants.get(peer);
                if (contestant == null || failed(peer).contains(lanes)) {
                    continue;
                }
                try {
                    Map<String, Double> values = contestant.measure(lanes, time);
                    observations.add(
                            new Observation(comparison.benchmark(), comparison.parameters(peer, lanes), values));
                } catch (IllegalStateException e) {
                    fail(peer, lanes, e);
                }
            }
        }
        return observations;
    }

    /** What has failed so far. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    /** Opens and warms up a peer that has no processes, as long as there is a number of lanes with which it has not failed. */
    private void open(RedisPeer peer) {
        while (!contestants.containsKey(peer)) {
            List<Integer> rest = comparison.lanes().stream()
                    .filter(it -> !failed(peer).contains(it))
                    .toList();
            if (rest.isEmpty()) {
                return;
            }
            int lanes = rest.get(0);
            try {
                Contestant contestant = new Contestant(comparison, peer, addresses, server);
                contestants.put(peer, contestant);
                for (int next : rest) {
                    lanes = next;
                    contestant.warmUp(lanes, warmUp.dividedBy(rest.size()));
                }
            } catch (IllegalStateException e) {
                fail(peer, lanes, e);
            }
        }
    }

    private void fail(RedisPeer peer, int lanes, IllegalStateException reason) {
        failures.add(
                "%s %s: %s".formatted(comparison.benchmark(), comparison.parameters(peer, lanes), reason.getMessage()));
        boolean unused = failed(peer).add(lanes);
        Contestant broken = contestants.remove(peer);
        if (broken != null) {
            broken.close();
        }
    }

    private Set<Integer> failed(RedisPeer peer) {
        return failed.getOrDefault(peer, Set.of());
    }

    @Override
    public void close() {
        contestants.values().forEach(Contestant::close);
        server.close();
    }
}
