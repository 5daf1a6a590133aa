package io.holdfast.r2dbc.internal.lane;

import java.time.Duration;

/**
 * Decides when this client sends a sweep. The database begins at most one a minute. Sweeps are rare, since each is a transaction. Not
 * thread-safe.
 */
final class SweepPace {

    /** A client with fewer batches leaves the sweep to other clients. */
    static final int LEAST_BATCHES = 64;

    /** A sweep that deleted something is followed by another one after this time: a little more than the database wants between two. */
    static final Duration NEXT_STEP = Duration.ofMillis(150);

    static final Duration LEAST_PAUSE = Duration.ofSeconds(20);

    private int batches;
    private boolean hasAsked;
    private long lastNanos;

    /** Whether to send a sweep now. Counts one more batch. */
    boolean isDueBehindABatch(long nowNanos) {
        batches++;
        if (batches < LEAST_BATCHES || (hasAsked && nowNanos - lastNanos < LEAST_PAUSE.toNanos())) {
            return false;
        }
        batches = 0;
        hasAsked = true;
        lastNanos = nowNanos;
        return true;
    }
}
