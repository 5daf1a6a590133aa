package io.holdfast.internal;

/** Lets the first of many equal lines through, and then one in five seconds that tells how many there were. Thread-safe. */
final class LogPace {

    static final long QUIET_NANOS = 5_000_000_000L;

    private boolean hasTold;
    private long toldNanos;
    private long untold;

    /**
     * A line is due.
     *
     * @param nowNanos of a monotonic clock
     * @return zero to say nothing, or for how many lines this one stands, itself included
     */
    synchronized long count(long nowNanos) {
        untold++;
        if (hasTold && nowNanos - toldNanos < QUIET_NANOS) {
            return 0;
        }
        hasTold = true;
        toldNanos = nowNanos;
        long count = untold;
        untold = 0;
        return count;
    }
}
