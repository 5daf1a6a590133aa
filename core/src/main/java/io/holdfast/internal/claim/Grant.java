package io.holdfast.internal.claim;

import io.holdfast.internal.run.Validity;

/**
 * A grant, as far as this client may rely on it.
 *
 * @param fencingToken its token
 * @param sentAtNanos when the client sent the attempt that the grant answers
 * @param leaseNanos the granted lease duration, counted from then on
 * @param standing whether a renewal has to confirm the grant
 */
public record Grant(long fencingToken, long sentAtNanos, long leaseNanos, Standing standing) {

    /** The certainty of a grant. */
    public enum Standing {
        /** The answer to an attempt. */
        CONFIRMED,
        /** A pushed grant: it ends soon unless it is renewed. */
        PUSHED,
        /** The back end has signalled a loss already, perhaps of an earlier attempt. */
        DOUBTED
    }

    /** Returns the local deadline of the grant. */
    public long validUntilNanos() {
        return Validity.until(sentAtNanos, leaseNanos);
    }
}
