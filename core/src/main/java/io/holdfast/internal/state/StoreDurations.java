package io.holdfast.internal.state;

import java.time.Duration;

/**
 * The durations that a store answers, in the range that the engine computes with. All of them pass through here, because a broken or
 * hostile store may answer any, and a long of nanoseconds ends after 292 years.
 */
public final class StoreDurations {

    /** The longest duration that options accept, too: sums of several stay far below the end of a long. */
    private static final Duration MOST = Duration.ofDays(366);

    /**
     * The least pause between two attempts of one claim, whatever a store or a back-off says: a millisecond, as short as the shortest pause
     * that {@link io.holdfast.Backoff} accepts. Without it a store that answers zero keeps a core busy, and one that answers at once never
     * lets the timer go on.
     */
    static final long LEAST_PAUSE_NANOS = 1_000_000;

    private StoreDurations() {}

    /**
     * A lease that the store promises.
     *
     * @param lease the answer
     * @return from 0, which is over at once, to 366 days
     */
    public static long leaseNanos(Duration lease) {
        return within(0, lease);
    }

    /**
     * A pause that the store proposes.
     *
     * @param pause the answer
     * @return from 1 ms to 366 days
     */
    static long pauseNanos(Duration pause) {
        return within(LEAST_PAUSE_NANOS, pause);
    }

    private static long within(long least, Duration answered) {
        if (answered.isNegative()) {
            return least;
        }
        return answered.compareTo(MOST) > 0 ? MOST.toNanos() : Math.max(least, answered.toNanos());
    }
}
