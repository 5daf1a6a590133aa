package io.holdfast.internal.state;

/**
 * What stays the same for the life of a lease.
 *
 * @param autoRenew whether it is renewed while it is held
 * @param holdUntilNanos when it ends whatever happens; meaningful only with {@code boundedHold}
 * @param boundedHold whether there is such an end
 * @param gridPhaseNanos where this client's renewal grid starts, by chance, so that clients do not renew in step
 */
public record LeaseTerms(boolean autoRenew, boolean boundedHold, long holdUntilNanos, long gridPhaseNanos) {

    /**
     * The same with an end.
     *
     * @param endNanos when it ends whatever happens
     * @return a copy
     */
    public LeaseTerms until(long endNanos) {
        return new LeaseTerms(autoRenew, true, endNanos, gridPhaseNanos);
    }
}
