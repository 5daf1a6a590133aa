package io.holdfast.benchmarks;

import io.holdfast.benchmarks.load.MasterFaults.Health;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.PeerChoice;
import io.holdfast.benchmarks.watch.Observation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Runs a comparison. In each round, all peers take their turns with one number of lanes before the next number begins. So a ratio compares
 * measurements that are seconds apart.
 */
final class ComparisonRun implements AutoCloseable {

    private final Comparison comparison;
    private final Addresses addresses;
    private final Duration warmUp;
    private final ServerCpu server;
    private final Map<PeerChoice, Contestant> contestants = new HashMap<>();

    /** Numbers of lanes with which a peer has failed: it has no more turns with them. */
    private final Map<PeerChoice, Set<Integer>> failed = new HashMap<>();

    private final List<String> failures = new ArrayList<>();

    /**
     * Makes the run, but starts no process.
     *
     * @param warmUp the warm-up time of each peer, divided among the numbers of lanes
     */
    ComparisonRun(Comparison comparison, Addresses addresses, Duration warmUp) {
        this.comparison = comparison;
        this.addresses = addresses;
        this.warmUp = warmUp;
        server = cpu(comparison, addresses);
        for (PeerChoice peer : comparison.peers()) {
            failed.put(peer, new TreeSet<>());
        }
    }

    private static ServerCpu cpu(Comparison comparison, Addresses addresses) {
        if (comparison.isPostgres()) {
            return ServerCpu.ofTree(addresses.postgres().pid());
        }
        return comparison.isQuorum() ? ServerCpu.of(addresses.masterPids()) : ServerCpu.at(addresses.redis());
    }

    /** Measures everything once; the first round warms up. */
    List<Observation> round(Duration time) {
        comparison.peers().forEach(this::open);
        List<Observation> observations = new ArrayList<>();
        for (int lanes : comparison.lanes()) {
            for (Health masters : comparison.masters()) {
                for (PeerChoice peer : comparison.peers()) {
                    if (comparison.takesPart(peer, masters)) {
                        measure(peer, lanes, masters, time).ifPresent(observations::add);
                    }
                }
            }
        }
        return observations;
    }

    private Optional<Observation> measure(PeerChoice peer, int lanes, Health masters, Duration time) {
        open(peer);
        Contestant contestant = contestants.get(peer);
        if (contestant == null || failed(peer).contains(lanes)) {
            return Optional.empty();
        }
        try {
            Map<String, Double> values = contestant.measure(lanes, masters, time);
            return Optional.of(
                    new Observation(comparison.benchmark(), comparison.parameters(peer, lanes, masters), values));
        } catch (IllegalStateException e) {
            fail(peer, lanes, e);
            return Optional.empty();
        }
    }

    /** Returns the failures so far. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    /** Opens and warms up a peer without processes, unless it has failed with all numbers of lanes. */
    private void open(PeerChoice peer) {
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

    private void fail(PeerChoice peer, int lanes, IllegalStateException reason) {
        failures.add("%s %s, %d lanes: %s".formatted(comparison.benchmark(), peer.name(), lanes, reason.getMessage()));
        boolean unused = failed(peer).add(lanes);
        Contestant broken = contestants.remove(peer);
        if (broken != null) {
            broken.close();
        }
    }

    private Set<Integer> failed(PeerChoice peer) {
        return failed.getOrDefault(peer, Set.of());
    }

    @Override
    public void close() {
        contestants.values().forEach(Contestant::close);
        server.close();
    }
}
