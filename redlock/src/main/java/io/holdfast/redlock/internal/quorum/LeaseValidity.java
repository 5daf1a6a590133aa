package io.holdfast.redlock.internal.quorum;

import java.time.Duration;

/**
 * How long the votes of a majority may be believed: for the lease, from the moment before the first master was asked, less what the clocks of client
 * and masters may differ by. The margin is that of the engine, and of the description of Redlock.
 */
public final class LeaseValidity {

    /** Of the lease: clocks run at different speeds. */
    private static final int DRIFT_PARTS = 100;

    /** The resolution of a master's expiry. */
    private static final long RESOLUTION_NANOS = 2_000_000;

    private LeaseValidity() {}

    /** From this moment on the lease is not believed any more. */
    public static long untilNanos(long askedAtNanos, Duration lease) {
        long nanos = lease.toNanos();
        return askedAtNanos + nanos - nanos / DRIFT_PARTS - RESOLUTION_NANOS;
    }
}
