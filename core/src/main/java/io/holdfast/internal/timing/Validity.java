package io.holdfast.internal.timing;

/**
 * Computes how long the client may rely on an answer of the back end.
 *
 * <p>The server keeps the lock at least from its processing of the request until the end of the lease. The client does
 * not know that moment, but it lies after the send time, so validity counts from the send time. The margin covers
 * clocks that run at different speeds (1 %) and the resolution of the server's expiry (2 ms), the figures of the
 * Redlock description.
 */
public final class Validity {

    private static final long RESOLUTION_NANOS = 2_000_000;

    private Validity() {}

    /** Returns from when on the client must treat the lock as lost, for a lease duration that an answer named. */
    public static long until(long sentAtNanos, long leaseNanos) {
        return sentAtNanos + leaseNanos - margin(leaseNanos);
    }

    /** Returns the shortest lease that is valid for this long (0 to 367 days) after its request was sent. */
    public static long leaseNanosFor(long validNanos) {
        return (validNanos + RESOLUTION_NANOS) / 99 * 100 + 200;
    }

    static long margin(long leaseNanos) {
        return leaseNanos / 100 + RESOLUTION_NANOS;
    }

    public static boolean isOver(long deadlineNanos, long nowNanos) {
        return nowNanos - deadlineNanos >= 0;
    }

    public static long later(long a, long b) {
        return a - b >= 0 ? a : b;
    }

    public static long earlier(long a, long b) {
        return a - b <= 0 ? a : b;
    }
}
