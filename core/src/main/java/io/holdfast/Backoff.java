package io.holdfast;

import java.time.Duration;

/**
 * The pause before the next attempt: a pure function of the number of attempts so far and of a random number.
 *
 * <p>Full jitter ({@code withJitter(1)}) spreads contenders best; see "Exponential Backoff And Jitter", AWS Architecture Blog,
 * 2015. Immutable.
 */
public final class Backoff {

    private final long firstNanos;
    private final long maxNanos;
    private final double factor;
    private final double jitter;

    private Backoff(long firstNanos, long maxNanos, double factor, double jitter) {
        this.firstNanos = firstNanos;
        this.maxNanos = maxNanos;
        this.factor = factor;
        this.jitter = jitter;
    }

    /**
     * {@return a back-off with a constant pause, without jitter}
     *
     * @param pause 1 ms to 366 days
     * @throws IllegalArgumentException if the pause is out of range
     */
    public static Backoff fixed(Duration pause) {
        long nanos = Durations.atLeastOneMilli("backoff pause", pause).toNanos();
        return new Backoff(nanos, nanos, 1, 0);
    }

    /**
     * {@return a back-off whose pause doubles from attempt to attempt, without jitter}
     *
     * @param first the pause after the first attempt, at least 1 ms
     * @param max the longest pause, at least {@code first}, at most 366 days
     * @throws IllegalArgumentException if a pause is out of range
     */
    public static Backoff exponential(Duration first, Duration max) {
        long firstNanos = Durations.atLeastOneMilli("backoff first", first).toNanos();
        long maxNanos = Durations.atLeastOneMilli("backoff max", max).toNanos();
        if (maxNanos < firstNanos) {
            throw new IllegalArgumentException(
                    "backoff max must be at least first, but max is %s and first is %s".formatted(max, first));
        }
        return new Backoff(firstNanos, maxNanos, 2, 0);
    }

    /**
     * {@return the same pauses, each shortened at random}
     *
     * @param share the random share of a pause, from 0 (none) to 1 (full jitter)
     * @throws IllegalArgumentException if the share is not in [0, 1]
     */
    public Backoff withJitter(double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException("backoff jitter must be from 0 to 1, was " + share);
        }
        return new Backoff(firstNanos, maxNanos, factor, share + 0.0); // Minus zero becomes zero.
    }

    /**
     * Returns the pause after an attempt.
     *
     * @param attempt 1, 2, …: the number of attempts so far
     * @param random a number in [0, 1)
     * @return {@code min(first * 2^(attempt - 1), max)}, less up to the jitter's share of it
     * @throws IllegalArgumentException if an argument is out of its range
     */
    public Duration pause(int attempt, double random) {
        if (attempt < 1) {
            throw new IllegalArgumentException("attempt must be at least 1, was " + attempt);
        }
        if (!(random >= 0 && random < 1)) {
            throw new IllegalArgumentException("random must be in [0, 1), was " + random);
        }
        double full = Math.min((double) maxNanos, firstNanos * Math.pow(factor, attempt - 1));
        return Duration.ofNanos((long) (full * (1 - jitter * random)));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Backoff that
                && firstNanos == that.firstNanos
                && maxNanos == that.maxNanos
                && factor == that.factor
                && jitter == that.jitter;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(firstNanos * 31 + maxNanos) * 31 + Double.hashCode(jitter);
    }

    @Override
    public String toString() {
        return "Backoff[%s .. %s, jitter %s]"
                .formatted(Duration.ofNanos(firstNanos), Duration.ofNanos(maxNanos), jitter);
    }
}
