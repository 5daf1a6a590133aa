package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.benchmarks.load.Reading;
import io.holdfast.benchmarks.load.Waits;
import io.holdfast.benchmarks.report.Sample;
import java.util.List;
import org.junit.jupiter.api.Test;

class ContestantTest {

    private static final Waits.Longest NONE = new Waits.Longest(0, 0);
    private static final Waits.Longest LATER = new Waits.Longest(2, 1);

    @Test
    void clientsOfTwoProcessesCountTogetherPerCycleOfBoth() {
        Reading one = new Reading(
                3_000, 1_000_000_000, 60_000_000, 30_000_000, 9_000, new Waits.Longest(7_000_000, 1_000_000));
        Reading other = new Reading(
                1_000, 2_000_000_000, 20_000_000, 2_000_000, 3_000, new Waits.Longest(5_000_000, 3_000_000));

        assertThat(Contestant.perCycle(List.of(one, other), 100_000_000))
                .containsEntry(Sample.THROUGHPUT, 3_500.0)
                .containsEntry(Sample.CLIENT_CPU, 20.0)
                .containsEntry(Sample.SERVER_CPU, 25.0)
                .containsEntry(Sample.ALLOCATION, 8_000.0)
                .containsEntry(Sample.SWITCHES, 3.0)
                .containsEntry(Sample.LONGEST_CYCLE, 7.0)
                .containsEntry(Sample.LONGEST_PAUSE, 3.0)
                .containsEntry(Sample.LEAST_SHARE, 1.0 / 3);
    }

    @Test
    void withoutACycleThereIsNothingToDivideBy() {
        List<Reading> idle = List.of(new Reading(0, 1_000_000_000, 10_000, 10_000, 10, NONE));

        assertThatThrownBy(() -> Contestant.perCycle(idle, 1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no cycle");
    }

    @Test
    void readingIsWhatHappenedSinceTheEarlierOne() {
        assertThat(new Reading(10, 200, 3_000, 40_000, 500_000, LATER)
                        .since(new Reading(1, 20, 300, 4_000, 50_000, NONE)))
                .isEqualTo(new Reading(9, 180, 2_700, 36_000, 450_000, LATER));
    }
}
