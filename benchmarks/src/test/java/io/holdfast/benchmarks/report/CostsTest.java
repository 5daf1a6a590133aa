package io.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CostsTest {

    private static List<Sample> samples(String peer, String inFlight, double client, double server, double bytes) {
        Map<String, String> parameters = Map.of("peer", peer, "inFlight", inFlight);
        return List.of(
                new Sample("RedisUncontended", parameters, Sample.CLIENT_CPU, client, 1),
                new Sample("RedisUncontended", parameters, Sample.SERVER_CPU, server, 1),
                new Sample("RedisUncontended", parameters, Sample.ALLOCATION, bytes, 1));
    }

    @Test
    void peersOfOneWorkloadStandTogetherAndSizesAreInTheOrderOfNumbers() {
        List<Sample> samples = new ArrayList<>();
        samples.addAll(samples("HOLDFAST", "1024", 1, 2, 3));
        samples.addAll(samples("LETTUCE", "64", 40, 50, 6_000));
        samples.addAll(samples("HOLDFAST", "64", 10, 20, 3_000));
        assertThat(Costs.table(samples).lines().dropWhile(it -> !it.startsWith("|")))
                .containsExactly(
                        "| | | CPU of the clients | CPU of the server | bytes |",
                        "| --- | --- | ---: | ---: | ---: |",
                        "| Redis without contention, 64 locks at a time | Holdfast | 10.0 | 20.0 | 3,000 |",
                        "| Redis without contention, 64 locks at a time | raw Lettuce (limit) | 40.0 | 50.0 | 6,000 |",
                        "| Redis without contention, 1,024 locks at a time | Holdfast | 1.00 | 2.00 | 3.00 |");
    }

    @Test
    void aRunThatMeasuredNoCpuHasNoTable() {
        List<Sample> onlyBytes = samples("HOLDFAST", "1", 1, 2, 3).stream()
                .filter(it -> it.metric().equals(Sample.ALLOCATION))
                .toList();
        assertThat(Costs.table(onlyBytes)).isEmpty();
    }
}
