package io.holdfast.r2dbc.internal.lane;

import java.time.Duration;

/** When the database is asked to sweep, which it does once a minute at most: seldom, since each time is a transaction. Not thread-safe. */
final class SweepPace {

    /** A client that makes few calls leaves it to others. */
    static final int LEAST_BATCHES = 64;

    static final Duration LEAST_PAUSE = Duration.ofSeconds(20);

    private int batches;
    private boolean hasAsked;
    private long lastNanos;

    /** Whether it is asked now, behind one more batch. */
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
