package io.holdfast.internal.claim;

import io.holdfast.LossReason;
import io.holdfast.internal.engine.LeaseTerms;
import io.holdfast.internal.run.Validity;
import io.holdfast.spi.Ownership;
import org.jspecify.annotations.Nullable;

// Longer than other files: one state machine, whose transitions a reader compares with one another.

/**
 * One lease from its grant to its end. Immutable; each method takes an event and returns the next state with the
 * action.
 *
 * <pre>
 *             renewed / failed              released                   answered, or given up
 *   HELD ───────────────────────▶ HELD    HELD ───────────▶ RELEASING ───────────────────────▶ RELEASED
 *     │  denied, deadline, loss signalled, client closed        │  answered "not held"
 *     └──────────────────────────▶ LOST                         └────────────────────────────▶ LOST
 * </pre>
 *
 * <p>A lease that is handed on is EXPORTING while a last renewal is in flight, and then EXPORTED. A lease that becomes
 * a read lease is STOPPING while a renewal is in flight, DOWNGRADING until the back end has confirmed the change, and
 * then DOWNGRADED. RELEASED, EXPORTED, DOWNGRADED and LOST are final. Each event checks the deadline, so that an answer
 * after the deadline does not bring a lease back.
 *
 * @param phase the phase
 * @param terms the terms, which stay the same
 * @param sentAtNanos when the last confirmed request was sent
 * @param validUntilNanos the local deadline
 * @param nextRenewalNanos when the next renewal is due; while DOWNGRADING the next request to downgrade
 * @param renewing whether a renewal is in flight, or was at the end; while DOWNGRADING a request to downgrade
 * @param confirmed false for a grant that was pushed or is in doubt, until it is renewed once; also false after a
 *     signal, until a renewal that was sent after the signal is confirmed
 * @param failures how many renewals failed in a row
 * @param lossReason why it was lost; null unless LOST
 */
public record LeaseState(
        Phase phase,
        LeaseTerms terms,
        long sentAtNanos,
        long validUntilNanos,
        long nextRenewalNanos,
        boolean renewing,
        boolean confirmed,
        int failures,
        @Nullable LossReason lossReason) {

    /** The phase of a lease. */
    public enum Phase {
        /** The client holds the lock until the deadline. */
        HELD,
        /** The holder has released; the back end has not confirmed yet. */
        RELEASING,
        /** The release has ended. */
        RELEASED,
        /** The lease will be handed on to another process when a last renewal has ended. */
        EXPORTING,
        /** The lease was handed on: another process may hold the lock. */
        EXPORTED,
        /** The lease will become a read lease when the renewal in flight has ended. */
        STOPPING,
        /** The lease will become a read lease: the client sends the request until it is answered. */
        DOWNGRADING,
        /** A read lease continues the claim. */
        DOWNGRADED,
        /** The lease ended before it was released. */
        LOST
    }

    /**
     * The next state and the action.
     *
     * @param state the next state
     * @param action the action
     */
    public record Step(LeaseState state, LeaseAction action) {}

    /**
     * Makes a new lease. A pushed grant is renewed soon, because it is short until it is confirmed; a grant whose loss
     * was signalled before it, at once.
     *
     * @param grant the grant
     * @param terms the terms, which stay the same
     * @param nowNanos the current time
     * @return HELD
     */
    public static LeaseState of(Grant grant, LeaseTerms terms, long nowNanos) {
        long renewal = switch (grant.standing()) {
            case CONFIRMED -> RenewalSchedule.next(grant.sentAtNanos(), grant.leaseNanos(), terms.gridPhaseNanos());
            case PUSHED -> RenewalSchedule.confirmation(nowNanos, grant.validUntilNanos());
            case DOUBTED -> nowNanos;
        };
        return new LeaseState(
                Phase.HELD,
                terms,
                grant.sentAtNanos(),
                bounded(terms, grant.validUntilNanos()),
                renewal,
                false,
                grant.standing() == Grant.Standing.CONFIRMED,
                0,
                null);
    }

    /**
     * Returns whether the lease may be used.
     *
     * @param nowNanos the current time
     * @return true while HELD and before the deadline
     */
    public boolean isValid(long nowNanos) {
        return phase == Phase.HELD && !Validity.isOver(validUntilNanos, nowNanos);
    }

    /**
     * Returns whether the lease was lost because it reached the longest hold time, and not because renewals were
     * missing.
     *
     * @return true if the deadline that passed was that of the longest hold time
     */
    public boolean reachedLongestHold() {
        return lossReason == LossReason.EXPIRED
                && terms.boundedHold()
                && Validity.isOver(terms.holdUntilNanos(), validUntilNanos);
    }

    /**
     * Returns when to call {@link #tick} next, while HELD, STOPPING or DOWNGRADING.
     *
     * @return the next request or the deadline, whichever is earlier
     */
    public long wakeAtNanos() {
        boolean wantsRequest = phase == Phase.DOWNGRADING || wantsRenewal();
        return wantsRequest && !renewing ? Validity.earlier(nextRenewalNanos, validUntilNanos) : validUntilNanos;
    }

    /**
     * Handles the passing of time.
     *
     * @param nowNanos the current time
     * @return the loss at the deadline; a renewal, or a request for a read lease, when it is due
     */
    public Step tick(long nowNanos) {
        if (phase != Phase.HELD && !isOnItsWayToReader()) {
            return stay();
        }
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return expired();
        }
        if (phase == Phase.DOWNGRADING && !renewing && Validity.isOver(nextRenewalNanos, nowNanos)) {
            return askForReadLease();
        }
        if (phase != Phase.HELD || renewing || !wantsRenewal() || !Validity.isOver(nextRenewalNanos, nowNanos)) {
            return stay();
        }
        return new Step(
                held(sentAtNanos, validUntilNanos, nextRenewalNanos, true, confirmed, failures), LeaseAction.RENEW);
    }

    /**
     * Handles a signal that the lock may be lost.
     *
     * @param nowNanos the current time
     * @return a renewal is due now
     */
    public Step verify(long nowNanos) {
        return phase != Phase.HELD
                ? stay()
                : new Step(held(sentAtNanos, validUntilNanos, nowNanos, renewing, false, failures), LeaseAction.NONE);
    }

    /**
     * Handles a confirmed renewal.
     *
     * @param sent when it was sent
     * @param leaseNanos the lease duration of the answer
     * @param automatic whether it is the renewal of {@link #renewing}
     * @param nowNanos the current time
     * @return held for longer; lost when the answer arrived after the deadline
     */
    public Step renewed(long sent, long leaseNanos, boolean automatic, long nowNanos) {
        if (phase != Phase.HELD) {
            return notHeldAndRenewed(automatic, nowNanos);
        }
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return expired();
        }
        boolean stillRenewing = renewing && !automatic;
        if (sent - sentAtNanos < 0) {
            return new Step(
                    held(sentAtNanos, validUntilNanos, nextRenewalNanos, stillRenewing, confirmed, failures),
                    LeaseAction.NONE);
        }
        long until = bounded(terms, Validity.until(sent, leaseNanos));
        if (Validity.isOver(until, nowNanos)) {
            return held(sent, until, nextRenewalNanos, stillRenewing, confirmed, failures)
                    .expired();
        }
        // The server may have processed a renewal from before the doubt before the signalled change: renew once more.
        boolean clears = confirmed || Validity.isOver(nextRenewalNanos, sent);
        long next = clears ? RenewalSchedule.next(sent, leaseNanos, terms.gridPhaseNanos()) : nextRenewalNanos;
        return new Step(held(sent, until, next, stillRenewing, clears, 0), LeaseAction.NONE);
    }

    /**
     * Handles the answer that the claim does not hold the lock.
     *
     * @return lost
     */
    public Step renewalDenied() {
        return lose(LossReason.NOT_HELD);
    }

    /**
     * Handles a renewal with an unknown outcome: nothing is lost yet, another renewal follows soon.
     *
     * @param automatic whether it is the renewal of {@link #renewing}
     * @param nowNanos the current time
     * @return held until the same deadline
     */
    public Step renewalFailed(boolean automatic, long nowNanos) {
        if (phase != Phase.HELD) {
            return notHeldAndRenewed(automatic, nowNanos);
        }
        boolean stillRenewing = renewing && !automatic;
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return held(sentAtNanos, validUntilNanos, nextRenewalNanos, stillRenewing, confirmed, failures)
                    .expired();
        }
        if (!automatic) {
            return stay();
        }
        long next = RenewalSchedule.retry(nowNanos, validUntilNanos);
        return new Step(held(sentAtNanos, validUntilNanos, next, false, confirmed, failures + 1), LeaseAction.NONE);
    }

    /**
     * Handles the end of the lease by the back end, its session, or the client.
     *
     * @param reason the reason
     * @return lost, unless it has ended or is being released
     */
    public Step lose(LossReason reason) {
        if (phase != Phase.HELD && phase != Phase.EXPORTING && !isOnItsWayToReader()) {
            return stay();
        }
        boolean storeMayHoldIt = reason != LossReason.NOT_HELD;
        return new Step(
                ended(Phase.LOST, reason),
                storeMayHoldIt ? LeaseAction.SIGNAL_LOSS_AND_RELEASE : LeaseAction.SIGNAL_LOSS);
    }

    /**
     * Handles a release by the holder.
     *
     * @param nowNanos the current time
     * @return releasing; lost when the deadline had passed before
     */
    public Step releaseAsked(long nowNanos) {
        if (phase != Phase.HELD) {
            return stay();
        }
        return Validity.isOver(validUntilNanos, nowNanos)
                ? expired()
                : new Step(ended(Phase.RELEASING, null), LeaseAction.RELEASE);
    }

    /**
     * Handles the answer to the release.
     *
     * @param ownership the answer
     * @param unknownBefore whether an earlier request of this release had an unknown outcome, and may have ended the claim
     * @return released, or lost before
     */
    public Step releaseAnswered(Ownership ownership, boolean unknownBefore) {
        if (phase != Phase.RELEASING) {
            return stay();
        }
        return ownership == Ownership.HELD || unknownBefore
                ? new Step(ended(Phase.RELEASED, null), LeaseAction.SIGNAL_RELEASED)
                : new Step(ended(Phase.LOST, LossReason.NOT_HELD), LeaseAction.SIGNAL_LOSS);
    }

    /**
     * Handles a release without a confirmation until the deadline; the server ends the lease by itself.
     *
     * @return released
     */
    public Step releaseGivenUp() {
        return phase != Phase.RELEASING ? stay() : new Step(ended(Phase.RELEASED, null), LeaseAction.SIGNAL_RELEASED);
    }

    /**
     * Handles an export by the holder. A grant that is short, or in doubt, is renewed first: the other process may need
     * some time.
     *
     * @param nowNanos the current time
     * @return handed on, now or when a renewal has ended; lost when the deadline had passed before
     */
    public Step exportAsked(long nowNanos) {
        if (phase != Phase.HELD) {
            return stay();
        }
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return expired();
        }
        if (confirmed && !renewing) {
            return new Step(ended(Phase.EXPORTED, null), LeaseAction.EXPORT);
        }
        return new Step(
                ended(Phase.EXPORTING, null), renewing ? LeaseAction.STOP_RENEWING : LeaseAction.RENEW_BEFORE_EXPORT);
    }

    /**
     * Handles the cancellation of an export.
     *
     * @return releasing, unless it was handed on before
     */
    public Step exportCancelled() {
        return phase == Phase.EXPORTING ? new Step(ended(Phase.RELEASING, null), LeaseAction.RELEASE) : stay();
    }

    /**
     * Handles a downgrade by the holder.
     *
     * @param nowNanos the current time
     * @return the request, now or when the renewal in flight has ended; lost when the deadline had passed before
     */
    public Step downgradeAsked(long nowNanos) {
        if (phase != Phase.HELD) {
            return stay();
        }
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return expired();
        }
        return renewing ? new Step(ended(Phase.STOPPING, null), LeaseAction.STOP_RENEWING) : askForReadLease();
    }

    /**
     * Handles the answer that the claim is now a reader.
     *
     * @param sent when the request was sent
     * @param leaseNanos the lease duration of the answer
     * @param nowNanos the current time
     * @return a read lease; lost when the answer arrived after the deadline; another request when the answered lease
     *     has ended already
     */
    public Step downgraded(long sent, long leaseNanos, long nowNanos) {
        if (phase != Phase.DOWNGRADING) {
            return stay();
        }
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return expired();
        }
        return Validity.isOver(Validity.until(sent, leaseNanos), nowNanos)
                ? downgradeFailed(nowNanos)
                : new Step(ended(Phase.DOWNGRADED, null), LeaseAction.GO_ON_AS_READER);
    }

    /**
     * Handles a request to downgrade with an unknown outcome.
     *
     * @param nowNanos the current time
     * @return another request soon; lost when the deadline has passed
     */
    public Step downgradeFailed(long nowNanos) {
        if (phase != Phase.DOWNGRADING) {
            return stay();
        }
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return expired();
        }
        long next = RenewalSchedule.retry(nowNanos, validUntilNanos);
        return new Step(downgrading(next, false, failures + 1), LeaseAction.NONE);
    }

    /**
     * Handles the cancellation of a downgrade.
     *
     * @return releasing, unless a read lease continues the claim
     */
    public Step downgradeCancelled() {
        return isOnItsWayToReader() ? new Step(ended(Phase.RELEASING, null), LeaseAction.RELEASE) : stay();
    }

    private Step askForReadLease() {
        return new Step(downgrading(nextRenewalNanos, true, failures), LeaseAction.ASK_FOR_READ_LEASE);
    }

    private LeaseState downgrading(long next, boolean inFlight, int failed) {
        return new LeaseState(
                Phase.DOWNGRADING, terms, sentAtNanos, validUntilNanos, next, inFlight, confirmed, failed, null);
    }

    /**
     * Handles the end of the last renewal. So no renewal arrives after the release by the next holder, or after the
     * claim is a reader.
     */
    private Step notHeldAndRenewed(boolean automatic, long nowNanos) {
        if (phase == Phase.EXPORTING && automatic) {
            return Validity.isOver(validUntilNanos, nowNanos)
                    ? expired()
                    : new Step(ended(Phase.EXPORTED, null), LeaseAction.EXPORT);
        }
        if (phase == Phase.STOPPING && automatic) {
            return Validity.isOver(validUntilNanos, nowNanos) ? expired() : askForReadLease();
        }
        return stay();
    }

    private boolean isOnItsWayToReader() {
        return phase == Phase.STOPPING || phase == Phase.DOWNGRADING;
    }

    private boolean wantsRenewal() {
        return terms.autoRenew() || !confirmed;
    }

    private static long bounded(LeaseTerms terms, long untilNanos) {
        return terms.boundedHold() ? Validity.earlier(untilNanos, terms.holdUntilNanos()) : untilNanos;
    }

    private Step expired() {
        return lose(LossReason.EXPIRED);
    }

    private Step stay() {
        return new Step(this, LeaseAction.NONE);
    }

    private LeaseState held(long sent, long until, long next, boolean inFlight, boolean isConfirmed, int failed) {
        return new LeaseState(Phase.HELD, terms, sent, until, next, inFlight, isConfirmed, failed, null);
    }

    private LeaseState ended(Phase end, @Nullable LossReason reason) {
        return new LeaseState(
                end, terms, sentAtNanos, validUntilNanos, nextRenewalNanos, renewing, confirmed, failures, reason);
    }
}
