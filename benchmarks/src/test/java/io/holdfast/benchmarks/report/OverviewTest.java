package io.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.chart.Ratios;
import io.holdfast.benchmarks.chart.Value;
import io.holdfast.benchmarks.report.Goal.Bound;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class OverviewTest {

    private static final Selector HOLDFAST = selector("RedisUncontended", Sample.THROUGHPUT, "HOLDFAST");

    private static Selector selector(String benchmark, String metric, String peer) {
        return new Selector(benchmark, metric, Map.of("inFlight", "1", "peer", peer));
    }

    private static Goal goal(Selector above, Selector below, Bound bound) {
        return new Goal("w", "a", above, below, bound, 1);
    }

    /** In three rounds. */
    private static List<Sample> samples(Selector of, double... values) {
        List<Sample> samples = new ArrayList<>();
        for (double value : values) {
            samples.add(new Sample(of.benchmark(), of.parameters(), of.metric(), value, samples.size() + 1));
        }
        return samples;
    }

    private static Ratios overview(List<Goal> goals, List<List<Sample>> samples) {
        return (Ratios) Overview.of(List.of(
                new Overview.Run(goals, samples.stream().flatMap(List::stream).toList())));
    }

    @Test
    void aRowIsTheRatioOfEachRoundThatTheReportHas() {
        Selector raw = HOLDFAST.with("peer", "LETTUCE");
        Ratios ratios = overview(
                List.of(goal(HOLDFAST, raw, Bound.AT_LEAST)),
                List.of(samples(HOLDFAST, 10, 30, 20), samples(raw, 20, 20, 20)));
        assertThat(ratios.parts()).hasSize(1);
        assertThat(ratios.parts().get(0).heading()).isEqualTo("Redis");
        assertThat(ratios.parts().get(0).rows())
                .containsExactly(
                        new Ratios.Row("one lock at a time", "raw Lettuce (limit)", new Value(0.5, 1, 1.5, 3)));
    }

    @Test
    void costsAreAPartOfTheirOwnWhereLessIsBetter() {
        Selector ours = selector("ZooKeeperUncontended", Sample.ALLOCATION, "HOLDFAST");
        Selector theirs = ours.with("peer", "CURATOR");
        Ratios ratios =
                overview(List.of(goal(ours, theirs, Bound.AT_MOST)), List.of(samples(ours, 10), samples(theirs, 5)));
        assertThat(ratios.parts()).singleElement().satisfies(part -> {
            assertThat(part.isMoreBetter()).isFalse();
            assertThat(part.rows())
                    .containsExactly(new Ratios.Row("ZooKeeper, heap of a cycle", "Curator", new Value(2, 2, 2, 1)));
        });
    }

    @Test
    void ratiosToHoldfastItselfAndValuesThatStandAloneAndWhatWasNotMeasuredAreLeftOut() {
        Selector hung = HOLDFAST.with("masters", "ONE_HUNG");
        Selector healthy = HOLDFAST.with("masters", "HEALTHY");
        Goal itself = goal(hung, healthy, Bound.AT_LEAST);
        Goal alone = new Goal("w", "1 µs", healthy, null, Bound.AT_MOST, 1);
        Goal unmeasured = goal(healthy, healthy.with("peer", "REDISSON"), Bound.AT_LEAST);
        Ratios ratios = overview(List.of(itself, alone, unmeasured), List.of(samples(healthy, 1), samples(hung, 2)));
        assertThat(ratios.parts()).isEmpty();
    }

    @Test
    void rowsOfOneWorkloadFollowEachOther() {
        Selector more = HOLDFAST.with("inFlight", "64");
        List<Goal> goals = List.of(
                goal(HOLDFAST, HOLDFAST.with("peer", "LETTUCE"), Bound.AT_LEAST),
                goal(more, more.with("peer", "LETTUCE"), Bound.AT_LEAST),
                goal(HOLDFAST, HOLDFAST.with("peer", "SPRING"), Bound.AT_LEAST));
        List<List<Sample>> samples = new ArrayList<>();
        goals.forEach(it -> samples.add(samples(Objects.requireNonNull(it.below()), 1)));
        samples.add(samples(HOLDFAST, 1));
        samples.add(samples(more, 1));
        assertThat(overview(goals, samples).parts().get(0).rows())
                .extracting(Ratios.Row::workload)
                .containsExactly("one lock at a time", "one lock at a time", "64 locks at a time");
    }
}
