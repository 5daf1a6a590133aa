package io.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogPaceTest {

    private static final long START = Long.MAX_VALUE - 1; // a monotonic clock may begin anywhere

    private final LogPace pace = new LogPace();

    @Test
    void theFirstLineIsTold() {
        assertThat(pace.count(START)).isEqualTo(1);
    }

    @Test
    void linesOfTheNextFiveSecondsAreToldAsOne() {
        assertThat(pace.count(START)).isEqualTo(1);
        for (int i = 1; i <= 34; i++) {
            assertThat(pace.count(START + i)).isZero();
        }

        assertThat(pace.count(START + LogPace.QUIET_NANOS - 1)).isZero();
        assertThat(pace.count(START + LogPace.QUIET_NANOS)).isEqualTo(36);
        assertThat(pace.count(START + LogPace.QUIET_NANOS + 1)).isZero();
    }

    @Test
    void aLineAfterAQuietTimeStandsForItself() {
        assertThat(pace.count(START)).isEqualTo(1);
        assertThat(pace.count(START + 2 * LogPace.QUIET_NANOS)).isEqualTo(1);
    }
}
