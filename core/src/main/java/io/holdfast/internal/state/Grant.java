package io.holdfast.internal.state;

/**
 * A grant as this client may believe it.
 *
 * @param fencingToken its token
 * @param sentAtNanos when the attempt that it answers was sent
 * @param leaseNanos what it promises from then on
 * @param standing whether it has to be confirmed by a renewal
 */
public record Grant(long fencingToken, long sentAtNanos, long leaseNanos, Standing standing) {

    /** What is known of a grant. */
    public enum Standing {
        /** The answer to an attempt. */
        CONFIRMED,
        /** Pushed: it ends soon unless it is renewed. */
        PUSHED,
        /** Its loss was told already, perhaps of an earlier attempt's. */
        DOUBTED
    }

    /**
     * The local deadline of the grant.
     *
     * @return nanoseconds of the client's clock
     */
    public long validUntilNanos() {
        return Validity.until(sentAtNanos, leaseNanos);
    }
}
