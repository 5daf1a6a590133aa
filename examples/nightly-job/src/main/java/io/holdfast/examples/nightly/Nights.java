package io.holdfast.examples.nightly;

import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;

/**
 * Which night it is. In UTC, where no night has two half past twos.
 *
 * @param at when the work of a night is due
 */
record Nights(LocalTime at) {

    /** The last night whose work is due. Found out after a restart, too: a night that everybody missed is made up for. */
    LocalDate lastDue(LocalDateTime now) {
        LocalDate today = now.toLocalDate();
        return now.toLocalTime().isBefore(at) ? today.minusDays(1) : today;
    }

    Duration untilNext(LocalDateTime now) {
        return Duration.between(now, lastDue(now).plusDays(1).atTime(at));
    }
}
