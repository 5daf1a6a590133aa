package io.holdfast.internal.state;

/**
 * How long an answer of the store may be believed.
 *
 * <p>The store promises an expiry of at least its processing of the request + lease. That moment is unknown here but lies after the
 * request was sent, so validity counts from the send time. The margin covers clocks that run at different speeds (1 %) and the
 * resolution of the store's expiry (2 ms), the figures of the Redlock description.
 */
public final class Validity {

    private static final long RESOLUTION_NANOS = 2_000_000;

    private Validity() {}

    /**
     * The local deadline.
     *
     * @param sentAtNanos just before the request was sent
     * @param leaseNanos what the answer promises
     * @return from this instant on the lock must be taken as lost
     */
    public static long until(long sentAtNanos, long leaseNanos) {
        return sentAtNanos + leaseNanos - margin(leaseNanos);
    }

    /**
     * The shortest lease that may be believed for so long after its request was sent.
     *
     * @param validNanos from 0 to 367 days
     * @return what to ask for
     */
    public static long leaseNanosFor(long validNanos) {
        return (validNanos + RESOLUTION_NANOS) / 99 * 100 + 200;
    }

    static long margin(long leaseNanos) {
        return leaseNanos / 100 + RESOLUTION_NANOS;
    }

    /**
     * Whether a deadline is reached.
     *
     * @param deadlineNanos the deadline
     * @param nowNanos the time
     * @return true from the deadline on
     */
    public static boolean isOver(long deadlineNanos, long nowNanos) {
        return nowNanos - deadlineNanos >= 0;
    }

    /**
     * The later of two deadlines.
     *
     * @param a one
     * @param b the other
     * @return the one that comes after the other
     */
    public static long later(long a, long b) {
        return a - b >= 0 ? a : b;
    }

    static long earlier(long a, long b) {
        return a - b <= 0 ? a : b;
    }
}
