package io.holdfast.internal.state;

import io.holdfast.Backoff;

/**
 * What one acquisition was asked to do.
 *
 * @param mode whether and how it waits
 * @param limited whether a time limit ends the wait: transient failures are retried until then. Without one they are for one
 *     lease in a row.
 * @param leaseNanos the lease asked for
 * @param wholeLease whether a pushed grant, which is short, is of no use before an attempt has made it a whole one
 * @param backoff the pauses between attempts
 */
public record AcquirePlan(Mode mode, boolean limited, long leaseNanos, boolean wholeLease, Backoff backoff) {

    /** Whether and how an acquisition waits. */
    public enum Mode {

        /** One attempt; not available is an empty result. */
        TRY,

        /** One attempt; not available is a time-out. */
        ONE_LOOK,

        /** As many attempts as it takes. */
        WAIT
    }
}
