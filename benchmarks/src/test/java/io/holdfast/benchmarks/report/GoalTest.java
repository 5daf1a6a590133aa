package io.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.benchmarks.report.Goal.Bound;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GoalTest {

    private static final Selector OURS = new Selector("Some", Sample.THROUGHPUT, Map.of("peer", "HOLDFAST"));
    private static final Selector THEIRS = OURS.with("peer", "OTHER");

    static List<List<Goal>> lists() {
        return List.of(Goals.all(), Goals.ofRedis(), Goals.ofHandOver());
    }

    private static Sample ours(double value, int round) {
        return new Sample("Some", Map.of("peer", "HOLDFAST", "inFlight", "1"), Sample.THROUGHPUT, value, round);
    }

    private static Sample theirs(double value, int round) {
        return new Sample("Some", Map.of("peer", "OTHER", "inFlight", "1"), Sample.THROUGHPUT, value, round);
    }

    @Test
    void isJudgedByTheMedianOfTheRounds() {
        List<Sample> samples =
                List.of(ours(10, 1), theirs(10, 1), ours(30, 2), theirs(10, 2), ours(20, 3), theirs(10, 3));
        Goal.Outcome outcome = new Goal("w", "a", OURS, THEIRS, Bound.AT_LEAST, 2)
                .judge(samples)
                .orElseThrow();
        assertThat(outcome.ratio()).isEqualTo(new Spread(1, 2, 3, 3));
        assertThat(outcome.isReached()).isTrue();
        assertThat(new Goal("w", "a", OURS, THEIRS, Bound.AT_LEAST, 2.01).judge(samples))
                .hasValueSatisfying(it -> assertThat(it.isReached()).isFalse());
    }

    @Test
    void atMostIsTheOtherSide() {
        List<Sample> samples = List.of(ours(5, 1), theirs(10, 1));
        assertThat(new Goal("w", "a", OURS, THEIRS, Bound.AT_MOST, 0.5).judge(samples))
                .hasValueSatisfying(it -> assertThat(it.isReached()).isTrue());
        assertThat(new Goal("w", "a", OURS, THEIRS, Bound.AT_MOST, 0.49).judge(samples))
                .hasValueSatisfying(it -> assertThat(it.isReached()).isFalse());
    }

    @Test
    void whatWasNotMeasuredIsNotJudged() {
        assertThat(new Goal("w", "a", OURS, THEIRS, Bound.AT_LEAST, 2).judge(List.of(ours(5, 1))))
                .isEmpty();
    }

    @Test
    void withoutADenominatorTheValueItselfIsJudged() {
        List<Sample> samples = List.of(ours(5, 1), ours(7, 2), ours(6, 3));
        Goal.Outcome outcome = new Goal("w", "1 µs", OURS, null, Bound.AT_MOST, 6)
                .judge(samples)
                .orElseThrow();
        assertThat(outcome.ratio()).isEqualTo(new Spread(5, 6, 7, 3));
        assertThat(outcome.below()).isEqualTo(new Spread(1, 1, 1, 3));
        assertThat(outcome.isReached()).isTrue();
    }

    @Test
    void twoValuesInOneRoundAreAnErrorAndNotAChoice() {
        List<Sample> samples = List.of(ours(5, 1), ours(6, 1), theirs(10, 1));
        Goal goal = new Goal("w", "a", OURS, THEIRS, Bound.AT_LEAST, 2);
        assertThatThrownBy(() -> goal.judge(samples)).hasMessageContaining("two values in one round");
    }

    /** A reader takes the first figure of a row for what the row is about, in the unit that it names. */
    @ParameterizedTest
    @MethodSource("lists")
    void theFirstFigureOfARowIsWhatItsWorkloadNamesInItsUnit(List<Goal> goals) {
        assertThat(goals).allSatisfy(goal -> {
            Selector shown = goal.above();
            assertThat(goal.workload().endsWith(Sample.THROUGHPUT))
                    .isEqualTo(shown.metric().equals(Sample.THROUGHPUT));
            assertThat(goal.workload().contains("bytes"))
                    .isEqualTo(shown.metric().startsWith("heap bytes")
                            || shown.metric().equals(Sample.ALLOCATION));
            assertThat(goal.workload().contains("CPU")).isEqualTo(shown.metric().equals(Sample.SERVER_CPU));
            assertThat(goal.workload().contains("hung"))
                    .isEqualTo(shown.parameters().containsValue("ONE_HUNG"));
        });
    }

    @ParameterizedTest
    @MethodSource("lists")
    void goalsAreDistinctAndEachComparesHoldfastWithSomethingElse(List<Goal> goals) {
        assertThat(goals).doesNotHaveDuplicates().allSatisfy(goal -> {
            assertThat(goal.above()).isNotEqualTo(goal.below());
            assertThat(goal.limit()).isPositive();
        });
        assertThat(goals).extracting(goal -> goal.workload() + goal.against()).doesNotHaveDuplicates();
    }
}
