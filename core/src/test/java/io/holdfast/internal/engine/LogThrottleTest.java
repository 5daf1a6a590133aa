package io.holdfast.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A monotonic clock may begin anywhere. */
class LogThrottleTest {

    private final LogThrottle throttle = new LogThrottle();

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1})
    void theFirstLineIsLogged(long start) {
        assertThat(throttle.count(start)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1})
    void linesOfTheNextFiveSecondsAreLoggedAsOne(long start) {
        assertThat(throttle.count(start)).isEqualTo(1);
        for (int i = 1; i <= 34; i++) {
            assertThat(throttle.count(start + i)).isZero();
        }

        assertThat(throttle.count(start + LogThrottle.QUIET_NANOS - 1)).isZero();
        assertThat(throttle.count(start + LogThrottle.QUIET_NANOS)).isEqualTo(36);
        assertThat(throttle.count(start + LogThrottle.QUIET_NANOS + 1)).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1})
    void aLineAfterAQuietTimeIsLogged(long start) {
        assertThat(throttle.count(start)).isEqualTo(1);
        assertThat(throttle.count(start + 2 * LogThrottle.QUIET_NANOS)).isEqualTo(1);
    }
}
