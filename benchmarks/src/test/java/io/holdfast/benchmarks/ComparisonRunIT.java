package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.benchmarks.report.Sample;
import io.holdfast.benchmarks.watch.Observation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Runs the processes of a comparison on a real server. The times are too short for meaningful figures. */
class ComparisonRunIT {

    private static final Duration WARM_UP = Duration.ofMillis(200);
    private static final Duration TIME = Duration.ofMillis(300);

    private static Servers servers;

    @BeforeAll
    static void start() {
        servers = new Servers(false);
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @Test
    void peersTakeTurnsAndEachTurnMeasuresTheCostOfACycle() {
        Comparison comparison = Comparison.uncontended(List.of(RedisPeer.HOLDFAST, RedisPeer.LETTUCE), 1, 16);
        try (ComparisonRun run = new ComparisonRun(comparison, servers.addresses(), WARM_UP)) {
            for (int round = 1; round <= 2; round++) {
                List<Observation> seen = run.round(TIME);
                assertThat(seen)
                        .extracting(Observation::params)
                        .containsExactly(
                                Map.of("peer", "HOLDFAST", "inFlight", "1"),
                                Map.of("peer", "LETTUCE", "inFlight", "1"),
                                Map.of("peer", "HOLDFAST", "inFlight", "16"),
                                Map.of("peer", "LETTUCE", "inFlight", "16"));
                assertThat(seen).allSatisfy(ComparisonRunIT::isPlausible);
            }
            assertThat(run.failures()).isEmpty();
        }
    }

    @Test
    void aFailedPeerHasNoMoreTurnsAndTheOthersContinue() {
        // The raw lock cannot wait.
        Comparison comparison = Comparison.contended(2, List.of(RedisPeer.LETTUCE, RedisPeer.HOLDFAST), 4);
        try (ComparisonRun run = new ComparisonRun(comparison, servers.addresses(), WARM_UP)) {
            for (int round = 1; round <= 2; round++) {
                List<Observation> seen = run.round(TIME);
                assertThat(seen)
                        .extracting(Observation::params)
                        .containsExactly(Map.of("peer", "HOLDFAST", "waiters", "4", "processes", "2"));
                assertThat(seen).allSatisfy(ComparisonRunIT::isPlausible);
            }
            assertThat(run.failures()).hasSize(1).allMatch(it -> it.contains("LETTUCE") && it.contains("cannot wait"));
        }
    }

    /** A cycle is at least two commands. */
    private static void isPlausible(Observation seen) {
        assertThat(seen.values().get(Sample.THROUGHPUT)).isBetween(1.0, 1e6);
        assertThat(seen.values().get(Sample.ALLOCATION)).isBetween(500.0, 1e6);
        assertThat(seen.values().get(Sample.CLIENT_CPU)).isBetween(1.0, 1e6);
        assertThat(seen.values().get(Sample.SERVER_CPU)).isBetween(1.0, 1e5);
    }
}
