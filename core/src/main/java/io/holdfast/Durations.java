package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/** The range of durations that options accept, and the message for a duration outside of it. */
final class Durations {

    private static final Duration LEAST = Duration.ofMillis(1);

    /** Far below the 292 years after which a long of nanoseconds wraps, so that sums of several stay correct. */
    private static final Duration MOST = Duration.ofDays(366);

    private Durations() {}

    static Duration atLeastOneMilli(String option, Duration value) {
        return atLeast(LEAST, option, value);
    }

    static Duration atLeast(Duration least, String option, Duration value) {
        requireNonNull(value, option);
        if (isOutside(least, value)) {
            throw refused(option, "", least, value);
        }
        return value;
    }

    static Duration zeroOrAtLeastOneMilli(String option, String meaningOfZero, Duration value) {
        requireNonNull(value, option);
        if (!value.isZero() && isOutside(LEAST, value)) {
            throw refused(option, "0 (%s), or ".formatted(meaningOfZero), LEAST, value);
        }
        return value;
    }

    private static boolean isOutside(Duration least, Duration value) {
        return value.compareTo(least) < 0 || value.compareTo(MOST) > 0;
    }

    private static IllegalArgumentException refused(String option, String also, Duration least, Duration value) {
        return new IllegalArgumentException("%s must be %sfrom %d ms to %d days, was %s"
                .formatted(option, also, least.toMillis(), MOST.toDays(), value));
    }
}
