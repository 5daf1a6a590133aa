package io.holdfast.redis.internal.connection;

import java.util.concurrent.TimeUnit;

/**
 * How soon a connection is left for a new one, again and again: while the address still leads to a server that takes no writes, another
 * connection would be left with the first answer. Not thread-safe.
 */
final class ReconnectBackoff {

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** So long after the address has another server, a client may still be at the former one. */
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(800);

    /** A connection that was of use for so long is left at once. */
    private static final long FORGET_NANOS = TimeUnit.SECONDS.toNanos(10);

    private boolean isFirst = true;
    private long leftAt;
    private long pauseNanos;

    /** How long to wait before this one is left; zero for at once. */
    long nextPause(long nowNanos) {
        boolean isNew = isFirst || nowNanos - leftAt > FORGET_NANOS;
        isFirst = false;
        long wait = isNew ? 0 : Math.max(0, leftAt + pauseNanos - nowNanos);
        leftAt = nowNanos + wait;
        pauseNanos = isNew ? SHORTEST_NANOS : Math.min(2 * pauseNanos, LONGEST_NANOS);
        return wait;
    }
}
