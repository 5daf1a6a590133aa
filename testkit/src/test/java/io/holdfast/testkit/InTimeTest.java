package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class InTimeTest {

    private final AtomicInteger runs = new AtomicInteger();

    @Test
    void aScenarioThatFailsInTimeFails() {
        assertThatThrownBy(() -> InTime.run(Duration.ofHours(1), this::fail)).isInstanceOf(AssertionError.class);
        assertThat(runs).hasValue(1);
    }

    @Test
    void aScenarioThatFailsLateRunsAgain() {
        InTime.run(Duration.ZERO, () -> {
            if (runs.get() < 2) {
                fail();
            }
        });
        assertThat(runs).hasValue(2);
    }

    @Test
    void aScenarioThatIsNeverInTimeFailsInTheEnd() {
        assertThatThrownBy(() -> InTime.run(Duration.ZERO, this::fail)).isInstanceOf(AssertionError.class);
        assertThat(runs).hasValue(10);
    }

    private void fail() {
        runs.incrementAndGet();
        throw new AssertionError("on purpose");
    }
}
