package io.holdfast.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A monotonic clock may begin anywhere. */
class LogPaceTest {

    private final LogPace pace = new LogPace();

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1})
    void theFirstLineIsLogged(long start) {
        assertThat(pace.count(start)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1})
    void linesOfTheNextFiveSecondsAreLoggedAsOne(long start) {
        assertThat(pace.count(start)).isEqualTo(1);
        for (int i = 1; i <= 34; i++) {
            assertThat(pace.count(start + i)).isZero();
        }

        assertThat(pace.count(start + LogPace.QUIET_NANOS - 1)).isZero();
        assertThat(pace.count(start + LogPace.QUIET_NANOS)).isEqualTo(36);
        assertThat(pace.count(start + LogPace.QUIET_NANOS + 1)).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1})
    void aLineAfterAQuietTimeIsLogged(long start) {
        assertThat(pace.count(start)).isEqualTo(1);
        assertThat(pace.count(start + 2 * LogPace.QUIET_NANOS)).isEqualTo(1);
    }
}
