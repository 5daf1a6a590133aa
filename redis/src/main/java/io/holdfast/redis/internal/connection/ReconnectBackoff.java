package io.holdfast.redis.internal.connection;

import java.util.concurrent.TimeUnit;

/**
 * Decides how soon to leave a connection for a new one, again and again. While the address still leads to a server that
 * takes no writes, the first answer on another connection would make the client leave that one too. Not thread-safe.
 */
final class ReconnectBackoff {

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** After the address has changed to another server, a client may be at the former one for up to this time. */
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(800);

    /** A connection that was used for this time is left at once. */
    private static final long FORGET_NANOS = TimeUnit.SECONDS.toNanos(10);

    private boolean isFirst = true;
    private long leftAt;
    private long pauseNanos;

    /** Returns how long to wait before leaving this connection; zero for at once. */
    long nextPause(long nowNanos) {
        boolean isNew = isFirst || nowNanos - leftAt > FORGET_NANOS;
        isFirst = false;
        long wait = isNew ? 0 : Math.max(0, leftAt + pauseNanos - nowNanos);
        leftAt = nowNanos + wait;
        pauseNanos = isNew ? SHORTEST_NANOS : Math.min(2 * pauseNanos, LONGEST_NANOS);
        return wait;
    }
}
