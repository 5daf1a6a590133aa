package io.holdfast.internal.state;

/**
 * A grant as this client may believe it.
 *
 * @param fencingToken its token
 * @param sentAtNanos when the look that it answers was sent
 * @param leaseNanos what it promises from then on
 * @param confirmed false for a pushed grant, which ends soon unless it is renewed, and for one whose loss was told already
 */
public record Grant(long fencingToken, long sentAtNanos, long leaseNanos, boolean confirmed) {

    /**
     * The local deadline of the grant.
     *
     * @return nanoseconds of the client's clock
     */
    public long validUntilNanos() {
        return Validity.until(sentAtNanos, leaseNanos);
    }
}
