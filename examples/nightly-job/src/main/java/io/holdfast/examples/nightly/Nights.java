package io.holdfast.examples.nightly;

import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;

/**
 * Computes which night is due. In UTC, where no night has 2:30 twice.
 *
 * @param at the time of day at which the work of a night is due
 */
record Nights(LocalTime at) {

    /** Returns the last night whose work is due, also after a restart: a night that all instances missed is done later. */
    LocalDate lastDue(LocalDateTime now) {
        LocalDate today = now.toLocalDate();
        return now.toLocalTime().isBefore(at) ? today.minusDays(1) : today;
    }

    Duration untilNext(LocalDateTime now) {
        return Duration.between(now, lastDue(now).plusDays(1).atTime(at));
    }
}
