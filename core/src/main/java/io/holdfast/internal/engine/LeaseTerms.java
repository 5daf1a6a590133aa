package io.holdfast.internal.engine;

/**
 * The terms of a lease, which stay the same for its life.
 *
 * @param autoRenew whether the lease is renewed while it is held
 * @param holdUntilNanos when the lease ends at the latest; has a meaning only with {@code boundedHold}
 * @param boundedHold whether there is such an end
 * @param gridPhaseNanos a random start of this client's renewal grid, so that clients do not renew in step
 */
public record LeaseTerms(boolean autoRenew, boolean boundedHold, long holdUntilNanos, long gridPhaseNanos) {

    /**
     * Returns these terms with an end.
     *
     * @param endNanos when the lease ends at the latest
     * @return a copy
     */
    public LeaseTerms until(long endNanos) {
        return new LeaseTerms(autoRenew, true, endNanos, gridPhaseNanos);
    }
}
