package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PausesTest {

    private static final double ALMOST_ONE = Math.nextDown(1.0);

    @Test
    void anyPauseFromNothingToTheWholeWindowIsPossible() {
        assertThat(Pauses.whileHeld(1, Duration.ofSeconds(10), 0)).isEqualTo(Duration.ofNanos(1));
        assertThat(Pauses.whileHeld(1, Duration.ofSeconds(10), ALMOST_ONE))
                .isBetween(Duration.ofMillis(19), Duration.ofMillis(20));
        assertThat(Pauses.inACrowd(0, 5_000_000, 0.5)).isEqualTo(Duration.ofNanos(2_500_000));
    }

    @Test
    void windowDoublesWithEachLook() {
        assertThat(Pauses.whileHeld(4, Duration.ofSeconds(10), 0.5)).isEqualTo(Duration.ofMillis(80));
        assertThat(Pauses.inACrowd(3, 5_000_000, 0.5)).isEqualTo(Duration.ofMillis(20));
    }

    @Test
    void windowIsNotLongerThanTheMastersExpectTheLockToBeHeld() {
        assertThat(Pauses.whileHeld(40, Duration.ofMillis(70), ALMOST_ONE)).isLessThanOrEqualTo(Duration.ofMillis(70));
        assertThat(Pauses.inACrowd(60, 5_000_000, ALMOST_ONE)).isLessThanOrEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void whatNobodyWaitsForIsTriedAgainAfterAPauseThatDoubles() {
        assertThat(Pauses.afterFailures(Duration.ofMillis(100), 0, 0)).isEqualTo(Duration.ofMillis(50));
        assertThat(Pauses.afterFailures(Duration.ofMillis(100), 0, 0.5)).isEqualTo(Duration.ofMillis(100));
        assertThat(Pauses.afterFailures(Duration.ofMillis(100), 2, ALMOST_ONE))
                .isBetween(Duration.ofMillis(599), Duration.ofMillis(600));
    }
}
