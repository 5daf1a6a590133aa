package io.holdfast.redlock.internal.quorum;

import java.time.Duration;

/**
 * How long the votes of a majority are valid: for the lease, from the moment before the first request to a master, less
 * the possible difference between the clocks of client and masters. The margin is that of the engine, and of the
 * description of Redlock.
 */
public final class LeaseValidity {

    /** This part of the lease: clocks run at different speeds. */
    private static final int DRIFT_PARTS = 100;

    /** The resolution of a master's expiry. */
    private static final long RESOLUTION_NANOS = 2_000_000;

    private LeaseValidity() {}

    /** Returns the moment from which the lease is not valid any more. */
    public static long untilNanos(long askedAtNanos, Duration lease) {
        long nanos = lease.toNanos();
        return askedAtNanos + nanos - nanos / DRIFT_PARTS - RESOLUTION_NANOS;
    }
}
