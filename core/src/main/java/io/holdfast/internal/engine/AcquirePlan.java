package io.holdfast.internal.engine;

import io.holdfast.Backoff;

/**
 * The settings of one acquisition.
 *
 * @param limited whether a time limit ends the wait: transient failures are repeated until then. Without a limit they
 *     are repeated for one lease duration in a row
 * @param wholeLease whether a pushed grant, which is short, is useless until an attempt has made it a whole lease
 */
public record AcquirePlan(Mode mode, boolean limited, long leaseNanos, boolean wholeLease, Backoff backoff) {

    public enum Mode {

        /** One attempt; if the lock is not available, the result is empty. */
        TRY,

        /** One attempt; if the lock is not available, the acquisition times out. */
        ONE_ATTEMPT,

        /** As many attempts as necessary. */
        WAIT
    }
}
