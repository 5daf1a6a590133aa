package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import org.junit.jupiter.api.Test;

class NightsTest {

    private final Nights nights = new Nights(LocalTime.of(2, 0));
    private final LocalDate day = LocalDate.of(2026, 3, 1);

    @Test
    void beforeTheHourTheNightBeforeIsTheLastOneDue() {
        LocalDateTime now = day.atTime(1, 59, 59);
        assertThat(nights.lastDue(now)).isEqualTo(day.minusDays(1));
        assertThat(nights.untilNext(now)).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void fromTheHourOnTheNightIsDue() {
        assertThat(nights.lastDue(day.atTime(2, 0))).isEqualTo(day);
        assertThat(nights.untilNext(day.atTime(2, 0))).isEqualTo(Duration.ofDays(1));
        assertThat(nights.lastDue(day.atTime(23, 0))).isEqualTo(day);
    }
}
