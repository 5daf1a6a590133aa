package io.holdfast.internal.engine;

/** Passes the first of many equal lines, and then one in five seconds with the number of lines. Thread-safe. */
final class LogThrottle {

    static final long QUIET_NANOS = 5_000_000_000L;

    private boolean hasLogged;
    private long loggedNanos;
    private long unlogged;

    /** Returns zero to log nothing; otherwise for how many lines this one stands, itself included. */
    synchronized long count(long nowNanos) {
        unlogged++;
        if (hasLogged && nowNanos - loggedNanos < QUIET_NANOS) {
            return 0;
        }
        hasLogged = true;
        loggedNanos = nowNanos;
        long count = unlogged;
        unlogged = 0;
        return count;
    }
}
