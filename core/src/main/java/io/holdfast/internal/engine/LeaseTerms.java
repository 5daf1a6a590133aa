package io.holdfast.internal.engine;

/**
 * The terms of a lease.
 *
 * @param holdUntilNanos when the lease ends at the latest; has a meaning only with {@code boundedHold}
 * @param gridPhaseNanos a random start of this client's renewal grid, so that clients do not renew in step
 */
public record LeaseTerms(boolean autoRenew, boolean boundedHold, long holdUntilNanos, long gridPhaseNanos) {

    public LeaseTerms until(long endNanos) {
        return new LeaseTerms(autoRenew, true, endNanos, gridPhaseNanos);
    }
}
