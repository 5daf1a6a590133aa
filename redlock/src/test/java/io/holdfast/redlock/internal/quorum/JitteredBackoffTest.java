package io.holdfast.redlock.internal.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class JitteredBackoffTest {

    private static final double ALMOST_ONE = Math.nextDown(1.0);

    @Test
    void anyPauseFromNothingToTheWholeWindowIsPossible() {
        assertThat(JitteredBackoff.whileHeld(1, Duration.ofSeconds(10), 0)).isEqualTo(Duration.ofNanos(1));
        assertThat(JitteredBackoff.whileHeld(1, Duration.ofSeconds(10), ALMOST_ONE))
                .isBetween(Duration.ofMillis(19), Duration.ofMillis(20));
        assertThat(JitteredBackoff.inContention(0, 5_000_000, 0.5)).isEqualTo(Duration.ofNanos(2_500_000));
    }

    @Test
    void windowDoublesWithEachAttempt() {
        assertThat(JitteredBackoff.whileHeld(4, Duration.ofSeconds(10), 0.5)).isEqualTo(Duration.ofMillis(80));
        assertThat(JitteredBackoff.inContention(3, 5_000_000, 0.5)).isEqualTo(Duration.ofMillis(20));
    }

    @Test
    void windowIsNotLongerThanTheMastersExpectTheLockToBeHeld() {
        assertThat(JitteredBackoff.whileHeld(40, Duration.ofMillis(70), ALMOST_ONE))
                .isLessThanOrEqualTo(Duration.ofMillis(70));
        assertThat(JitteredBackoff.inContention(60, 5_000_000, ALMOST_ONE)).isLessThanOrEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void backgroundWorkIsRepeatedAfterAPauseThatDoubles() {
        assertThat(JitteredBackoff.afterFailures(Duration.ofMillis(100), 0, 0)).isEqualTo(Duration.ofMillis(50));
        assertThat(JitteredBackoff.afterFailures(Duration.ofMillis(100), 0, 0.5))
                .isEqualTo(Duration.ofMillis(100));
        assertThat(JitteredBackoff.afterFailures(Duration.ofMillis(100), 2, ALMOST_ONE))
                .isBetween(Duration.ofMillis(599), Duration.ofMillis(600));
    }
}
