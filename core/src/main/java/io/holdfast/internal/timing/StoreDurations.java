package io.holdfast.internal.timing;

import java.time.Duration;

/**
 * Limits the durations of the back end's answers to the range that the engine computes with. All such durations pass
 * through this class. A broken or hostile server may answer any value, and a long of nanoseconds ends after 292 years.
 */
public final class StoreDurations {

    /** Also the longest duration that options accept: sums of several stay far below the end of a long. */
    private static final Duration MOST = Duration.ofDays(366);

    /** The least pause between two attempts: without it, a back end that answers zero keeps a core busy. */
    public static final long LEAST_PAUSE_NANOS = 1_000_000;

    private StoreDurations() {}

    public static long leaseNanos(Duration lease) {
        return within(0, lease);
    }

    public static long pauseNanos(Duration pause) {
        return within(LEAST_PAUSE_NANOS, pause);
    }

    private static long within(long least, Duration answered) {
        if (answered.isNegative()) {
            return least;
        }
        return answered.compareTo(MOST) > 0 ? MOST.toNanos() : Math.max(least, answered.toNanos());
    }
}
