package io.holdfast.internal.state;

import io.holdfast.Backoff;

/**
 * What one acquisition was asked to do.
 *
 * @param mode whether and how it waits
 * @param leaseNanos the lease asked for
 * @param backoff the pauses between looks
 */
public record AcquirePlan(Mode mode, long leaseNanos, Backoff backoff) {

    /** Whether and how an acquisition waits. */
    public enum Mode {

        /** One look; not available is an empty result. */
        TRY,

        /** One look; not available is a time-out. */
        ONE_LOOK,

        /** As many looks as it takes. */
        WAIT
    }
}
