package io.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.crowd.CrowdedLock;
import io.holdfast.benchmarks.crowd.Trouble;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CrowdsTest {

    @Test
    void troubleStandsBesideTheSameLoadWithoutIt() {
        String section = Crowds.section(List.of(
                sample(CrowdedLock.metric(Trouble.NONE, Sample.THROUGHPUT), 8_000),
                sample(CrowdedLock.metric(Trouble.REFUSED, Sample.THROUGHPUT), 6_000),
                sample(CrowdedLock.metric(Trouble.REFUSED, CrowdedLock.REFUSED), 9_000),
                sample(CrowdedLock.BEHIND_HUNG, 2_000)));

        assertThat(section.lines().filter(it -> it.contains(Trouble.REFUSED.title())))
                .singleElement()
                .asString()
                .startsWith("| mutex |")
                .contains("6,000", "0.75", "9,000 refused/s");
        assertThat(section)
                .contains("mutex: a claim behind the waiters of a process that hangs was served after 2,000 ms.");
    }

    @Test
    void runWithoutCrowdHasNoSection() {
        assertThat(Crowds.section(List.of(new Sample("HandOff", Map.of(), "p50 µs", 80, 1))))
                .isEmpty();
    }

    private static Sample sample(String metric, double value) {
        return new Sample("CrowdedLock", Map.of("kind", "MUTEX"), metric, value, 1);
    }
}
