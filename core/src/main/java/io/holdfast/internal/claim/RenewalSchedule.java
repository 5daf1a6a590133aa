package io.holdfast.internal.claim;

/**
 * Says when to renew: at a third of the lease of the last answer, so that two renewals may fail.
 *
 * <p>The time is rounded down to a grid of a tenth of that period. So leases that one client acquires at different
 * moments are due together, and go out in one request. Each is renewed after nine to ten tenths of its period.
 */
final class RenewalSchedule {

    private static final long SHORTEST_RETRY_NANOS = 10_000_000;
    private static final long LONGEST_RETRY_NANOS = 1_000_000_000;

    /** A holder that releases within this time sends no confirmation; nine tenths of its grant are left then. */
    private static final long CONFIRMATION_NANOS = 50_000_000;

    private RenewalSchedule() {}

    static long confirmation(long nowNanos, long validUntilNanos) {
        return nowNanos + Math.min(CONFIRMATION_NANOS, Math.max(0, (validUntilNanos - nowNanos) / 10));
    }

    static long next(long sentAtNanos, long leaseNanos, long gridPhaseNanos) {
        long period = leaseNanos / 3;
        long step = Math.max(1, period / 10);
        long phase = gridPhaseNanos % step;
        return Math.floorDiv(sentAtNanos + period - phase, step) * step + phase;
    }

    /** A tenth of the time left, at most a second: about 40 tries for a lease of 3 s, and 60 for one of 30 s. */
    static long retry(long nowNanos, long validUntilNanos) {
        long pause = Math.min(LONGEST_RETRY_NANOS, Math.max(SHORTEST_RETRY_NANOS, (validUntilNanos - nowNanos) / 10));
        return nowNanos + pause;
    }
}
