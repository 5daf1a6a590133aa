package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.Plan.Series;
import io.holdfast.benchmarks.chart.Drawn;
import io.holdfast.benchmarks.report.Drawing;
import io.holdfast.benchmarks.report.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each plan ends with charts that can be read, whatever it measures. The values here are random. */
class PlannedChartsTest {

    private static final List<String> METRICS = List.of(Sample.THROUGHPUT, Sample.ALLOCATION);
    private static final List<String> HAND_OFF = List.of("p50 µs", "p99 µs", "round trip p50 µs", "round trip p99 µs");

    static Stream<Plan> plans() {
        return Stream.of(
                Plan.redis(),
                Plan.redlock(),
                Plan.zookeeper(),
                Plan.postgres(),
                Plan.handOver(),
                Plan.quick(),
                Plan.contended(),
                Plan.all(),
                Plan.all().lasting(1, 1, 1));
    }

    /** Samples of all rounds, with values between 0.1 and a million. */
    private static final class Measured {

        private final List<Sample> samples = new ArrayList<>();
        private final Random random = new Random(4711);
        private final Plan plan;

        Measured(Plan plan) {
            this.plan = plan;
        }

        void add(String benchmark, Map<String, String> parameters, List<String> metrics) {
            for (String metric : metrics) {
                for (int round = 1; round <= plan.rounds(); round++) {
                    double value = Math.pow(10, 7 * random.nextDouble() - 1);
                    samples.add(new Sample(benchmark, parameters, metric, value, round));
                }
            }
        }

        List<Sample> all() {
            plan.comparisons().forEach(this::add);
            plan.series().forEach(this::add);
            Stream.concat(plan.watches().stream(), plan.once().stream()).forEach(this::add);
            return samples;
        }

        private void add(Comparison of) {
            of.peers()
                    .forEach(peer -> of.lanes()
                            .forEach(lanes -> of.masters().stream()
                                    .filter(health -> of.takesPart(peer, health))
                                    .forEach(health ->
                                            add(of.benchmark(), of.parameters(peer, lanes, health), METRICS))));
        }

        private void add(Series series) {
            List<Map<String, String>> combinations = new ArrayList<>(List.of(Map.of()));
            series.parameters().forEach((name, values) -> {
                List<Map<String, String>> more = new ArrayList<>();
                for (Map<String, String> before : combinations) {
                    for (String value : values) {
                        Map<String, String> one = new TreeMap<>(before);
                        one.put(name, value);
                        more.add(one);
                    }
                }
                combinations.clear();
                combinations.addAll(more);
            });
            combinations.forEach(it -> add(series.benchmark(), it, METRICS));
        }

        private void add(List<String> watch) {
            String name = watch.get(0);
            switch (name) {
                case "HandOff" -> add(name, Map.of("peer", watch.get(1), "waiters", watch.get(2)), HAND_OFF);
                case "Commands" ->
                    add(name, Map.of("peer", watch.get(1), "waiters", watch.get(2)), List.of("on the wire"));
                case "HeldLeases" ->
                    add(
                            name,
                            Map.of("leases", watch.get(1)),
                            List.of("cores", "cores of the server", "heap bytes/lease"));
                default -> {
                    // No chart shows it.
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("plans")
    void noLabelIsCoveredOrOutsideInTheChartsOfAPlan(Plan plan) throws Exception {
        Map<String, String> charts = Drawing.files(new Measured(plan).all());
        assertThat(charts).isNotEmpty();
        for (Map.Entry<String, String> chart : charts.entrySet()) {
            Drawn drawn = Drawn.of(chart.getValue());
            assertThat(drawn.covered()).as(chart.getKey()).isEmpty();
            assertThat(drawn.outside()).as(chart.getKey()).isEmpty();
        }
    }
}
