package io.holdfast.redlock.internal.quorum;

import java.time.Duration;

/**
 * Pauses that keep contenders apart: full jitter, a random part of a window that doubles with each failed round in a
 * row; see "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. Pure: the random number is an argument.
 */
public final class JitteredBackoff {

    private static final long FIRST_NANOS = Duration.ofMillis(20).toNanos();
    private static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long LEAST_NANOS = Duration.ofMillis(1).toNanos();
    private static final int MOST_DOUBLINGS = 30;

    private JitteredBackoff() {}

    /**
     * Returns the pause after a round in which another claim held the lock.
     *
     * @param attempt 1, 2, …: the number of attempts so far
     * @param freeWithin when the masters expect a majority to be free
     * @param random in [0, 1)
     */
    public static Duration whileHeld(int attempt, Duration freeWithin, double random) {
        return jittered(Math.min(doubled(FIRST_NANOS, attempt - 1), freeWithin.toNanos()), random);
    }

    /**
     * Returns the pause after a round with split votes, or before a round that a signal causes: others try as well.
     *
     * @param level how many rounds in a row failed by contention
     * @param roundNanos how long a round takes: contenders that start further apart than that do not meet
     * @param random in [0, 1)
     */
    public static Duration inContention(int level, long roundNanos, double random) {
        return jittered(Math.min(LONGEST_NANOS, doubled(Math.max(LEAST_NANOS, roundNanos), level)), random);
    }

    /**
     * Returns the pause before background work is repeated: from half of a pause that doubles with each failure, up to
     * one and a half of it.
     *
     * @param failures before this one
     * @param random in [0, 1)
     */
    public static Duration afterFailures(Duration first, long failures, double random) {
        return Duration.ofNanos((long) (doubled(first.toNanos(), (int) failures) * (0.5 + random)));
    }

    private static long doubled(long nanos, int times) {
        return (long) (nanos * Math.pow(2, Math.min(MOST_DOUBLINGS, times)));
    }

    private static Duration jittered(long windowNanos, double random) {
        return Duration.ofNanos(Math.max(1, (long) (windowNanos * random)));
    }
}
