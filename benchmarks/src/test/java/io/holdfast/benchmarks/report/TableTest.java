package io.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.report.Goal.Bound;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TableTest {

    private static final Selector OURS = new Selector("Some", Sample.THROUGHPUT, Map.of("peer", "HOLDFAST"));

    private static List<Sample> samples() {
        List<Sample> samples = new ArrayList<>();
        for (int round = 1; round <= 3; round++) {
            samples.add(new Sample("Some", Map.of("peer", "HOLDFAST"), Sample.THROUGHPUT, 30_000 * round, round));
            samples.add(new Sample("Some", Map.of("peer", "OTHER"), Sample.THROUGHPUT, 10_000, round));
        }
        return samples;
    }

    @Test
    void rowHasTheMediansAndTheRatiosAndTheVerdict() {
        Goal reached = new Goal("cycles", "another", OURS, OURS.with("peer", "OTHER"), Bound.AT_LEAST, 2.5);
        Goal missed = new Goal("cycles", "another", OURS, OURS.with("peer", "OTHER"), Bound.AT_MOST, 1.2);
        Goal unmeasured = new Goal("cycles", "nobody", OURS, OURS.with("peer", "NOBODY"), Bound.AT_MOST, 1.2);
        assertThat(Table.ofGoals(List.of(reached, missed, unmeasured), samples())
                        .lines())
                .containsExactly(
                        "| workload | Holdfast | to | it has | ratio: min / median / max | goal | reached |",
                        "| --- | ---: | --- | ---: | ---: | ---: | --- |",
                        "| cycles | 60,000 | another | 10,000 | 3.00 / **6.00** / 9.00 | ≥ 2.50 | yes |",
                        "| cycles | 60,000 | another | 10,000 | 3.00 / **6.00** / 9.00 | ≤ 1.20 | **no** |");
    }

    @Test
    void oneRoundIsNotShownAsIfItHadASpread() {
        Goal goal = new Goal("cycles", "another", OURS, OURS.with("peer", "OTHER"), Bound.AT_LEAST, 2.5);
        List<Sample> once = samples().stream().filter(it -> it.round() == 2).toList();
        assertThat(Table.ofGoals(List.of(goal), once))
                .endsWith("| cycles | 60,000 | another | 10,000 | **6.00** | ≥ 2.50 | yes |\n");
        assertThat(Table.ofAll(once)).endsWith("| peer OTHER | cycles/s |  | 10,000 |  | 1 |\n");
    }

    @Test
    void aMedianThatMissesItsLimitByAHairDoesNotLookLikeIt() {
        Goal goal = new Goal("cycles", "another", OURS, OURS.with("peer", "OTHER"), Bound.AT_LEAST, 6.004);
        assertThat(Table.ofGoals(List.of(goal), samples()))
                .endsWith("| cycles | 60,000 | another | 10,000 | 3.00 / **6.000** / 9.00 | ≥ 6.00 | **no** |\n");
    }

    @Test
    void everythingIsListedByBenchmarkAndParameters() {
        assertThat(Table.ofAll(samples()).lines())
                .containsExactly(
                        "",
                        "### Some",
                        "",
                        "| | | min | median | max | n |",
                        "| --- | --- | ---: | ---: | ---: | ---: |",
                        "| peer HOLDFAST | cycles/s | 30,000 | 60,000 | 90,000 | 3 |",
                        "| peer OTHER | cycles/s | 10,000 | 10,000 | 10,000 | 3 |");
    }

    @Test
    void numbersHaveThreeFigures() {
        assertThat(List.of(12_345.6, 123.4, 12.34, 1.234, 0.5, 0.01234, 0.0))
                .extracting(Table::number)
                .containsExactly("12,346", "123", "12.3", "1.23", "0.50", "0.0123", "0.00");
    }
}
