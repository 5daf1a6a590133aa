package io.holdfast.internal.state;

/**
 * When to renew: at a third of the lease that the last answer promised, so that two renewals may fail.
 *
 * <p>The time is rounded down to a grid of a tenth of that period. So leases of one client that are acquired at any moment fall
 * due together, and go out in one request; each renews after nine to ten tenths of its period.
 */
final class RenewalSchedule {

    private static final long SHORTEST_RETRY_NANOS = 10_000_000;
    private static final long LONGEST_RETRY_NANOS = 1_000_000_000;

    /** Who gives a contended lock back within this time needs no confirmation; nine tenths of the grant are left for it at least. */
    private static final long CONFIRMATION_NANOS = 50_000_000;

    private RenewalSchedule() {}

    /** When to confirm a grant that was pushed. */
    static long confirmation(long nowNanos, long validUntilNanos) {
        return nowNanos + Math.min(CONFIRMATION_NANOS, Math.max(0, (validUntilNanos - nowNanos) / 10));
    }

    static long next(long sentAtNanos, long leaseNanos, long gridPhaseNanos) {
        long period = leaseNanos / 3;
        return onGrid(sentAtNanos + period, Math.max(1, period / 10), gridPhaseNanos);
    }

    /** A tenth of what is left: about twenty tries until the deadline, close enough to notice a store that came back. */
    static long retry(long nowNanos, long validUntilNanos) {
        long pause = Math.min(LONGEST_RETRY_NANOS, Math.max(SHORTEST_RETRY_NANOS, (validUntilNanos - nowNanos) / 10));
        return nowNanos + pause;
    }

    private static long onGrid(long timeNanos, long stepNanos, long phaseNanos) {
        long phase = phaseNanos % stepNanos;
        return Math.floorDiv(timeNanos - phase, stepNanos) * stepNanos + phase;
    }
}
