package io.holdfast.internal.state;

import io.holdfast.LossReason;
import io.holdfast.spi.Ownership;
import org.jspecify.annotations.Nullable;

/**
 * One lease from its grant to its end. Immutable; each method takes an event and gives the next state with what to do.
 *
 * <pre>
 *             renewed / failed              release asked              answered, or given up
 *   HELD ───────────────────────▶ HELD    HELD ───────────▶ RELEASING ───────────────────────▶ RELEASED
 *     │  denied, deadline, store says lost, client closed       │  answered "not held"
 *     └──────────────────────────▶ LOST                         └────────────────────────────▶ LOST
 * </pre>
 *
 * <p>A lease that is handed on is EXPORTING while a renewal is in flight or sent for that, and then EXPORTED. One that becomes a read lease is STOPPING while a
 * renewal is in flight, DOWNGRADING until the store has confirmed that, and then DOWNGRADED. RELEASED, EXPORTED, DOWNGRADED and LOST are final. The deadline is checked at every event, so that an answer which comes after it does not bring
 * a lease back.
 *
 * @param phase where it stands
 * @param terms what stays the same
 * @param sentAtNanos when the last confirmed request was sent
 * @param validUntilNanos the local deadline
 * @param nextRenewalNanos when the next renewal is due; while DOWNGRADING the next request for that
 * @param renewing whether a renewal is in flight, or was at the end; while DOWNGRADING the request for that
 * @param confirmed false until a grant that was pushed, or is in doubt, was renewed once, and after a signal until a renewal that was sent after
 *     it
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

    /** Where a lease stands. */
    public enum Phase {
        /** Ours until the deadline. */
        HELD,
        /** The holder is done; the store has not confirmed yet. */
        RELEASING,
        /** Given back. */
        RELEASED,
        /** To be handed on to another process, when a last renewal has ended. */
        EXPORTING,
        /** Handed on: another process may hold it. */
        EXPORTED,
        /** To become a read lease, when the renewal in flight has ended. */
        STOPPING,
        /** To become a read lease: the store is asked, and again until it answers. */
        DOWNGRADING,
        /** A read lease goes on with the claim. */
        DOWNGRADED,
        /** Ended before it was given back. */
        LOST
    }

    /**
     * The next state, and what to do.
     *
     * @param state the next state
     * @param action what to do
     */
    public record Step(LeaseState state, LeaseAction action) {}

    /**
     * A new lease. One that was pushed is renewed soon, because its grant is short until it is confirmed; one whose loss was told before
     * its grant, at once.
     *
     * @param grant what was granted
     * @param terms what stays the same
     * @param nowNanos the time
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
     * Whether it may be used.
     *
     * @param nowNanos the time
     * @return held, and before the deadline
     */
    public boolean isValid(long nowNanos) {
        return phase == Phase.HELD && !Validity.isOver(validUntilNanos, nowNanos);
    }

    /**
     * Whether it was lost because it may not be held for longer, and not because renewals were missing.
     *
     * @return true if the deadline that passed was that of the longest hold time
     */
    public boolean reachedLongestHold() {
        return lossReason == LossReason.EXPIRED
                && terms.boundedHold()
                && Validity.isOver(terms.holdUntilNanos(), validUntilNanos);
    }

    /**
     * When to call {@link #tick} next, while HELD, STOPPING or DOWNGRADING.
     *
     * @return the next request or the deadline, whichever is earlier
     */
    public long wakeAtNanos() {
        boolean wantsRequest = phase == Phase.DOWNGRADING || wantsRenewal();
        return wantsRequest && !renewing ? Validity.earlier(nextRenewalNanos, validUntilNanos) : validUntilNanos;
    }

    /**
     * Time has passed.
     *
     * @param nowNanos the time
     * @return lost at the deadline; renew, or ask for a read lease, when that is due
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
     * It is worth asking whether it is still held.
     *
     * @param nowNanos the time
     * @return a renewal is due now
     */
    public Step verify(long nowNanos) {
        return phase != Phase.HELD
                ? stay()
                : new Step(held(sentAtNanos, validUntilNanos, nowNanos, renewing, false, failures), LeaseAction.NONE);
    }

    /**
     * A renewal was confirmed.
     *
     * @param sent when it was sent
     * @param leaseNanos what the answer promises
     * @param automatic whether it is the one that {@link #renewing} tells of
     * @param nowNanos the time
     * @return held for longer; lost when the answer came after the deadline
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
        // A renewal that was sent before the doubt may have been processed before what was signalled: ask once more.
        boolean clears = confirmed || Validity.isOver(nextRenewalNanos, sent);
        long next = clears ? RenewalSchedule.next(sent, leaseNanos, terms.gridPhaseNanos()) : nextRenewalNanos;
        return new Step(held(sent, until, next, stillRenewing, clears, 0), LeaseAction.NONE);
    }

    /**
     * The store said that it is not held.
     *
     * @return lost
     */
    public Step renewalDenied() {
        return lose(LossReason.NOT_HELD);
    }

    /**
     * The outcome of a renewal is unknown: nothing is lost yet, try again soon.
     *
     * @param automatic whether it is the one that {@link #renewing} tells of
     * @param nowNanos the time
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
     * The store, its session, or the client ended it.
     *
     * @param reason why
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
     * The holder is done.
     *
     * @param nowNanos the time
     * @return releasing; lost when the deadline has passed before
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
     * The release was answered.
     *
     * @param ownership the answer
     * @param unknownBefore whether an earlier request of this release had an unknown outcome, and may have ended the claim
     * @return released, or found to be lost before
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
     * The release could not be confirmed until the deadline; the store ends the lease by itself.
     *
     * @return released
     */
    public Step releaseGivenUp() {
        return phase != Phase.RELEASING ? stay() : new Step(ended(Phase.RELEASED, null), LeaseAction.SIGNAL_RELEASED);
    }

    /**
     * The holder wants another process to hold it. A grant that is short, or in doubt, is renewed before: the other process may take a while.
     *
     * @param nowNanos the time
     * @return handed on, now or when a renewal has ended; lost when the deadline has passed before
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
     * The holder does not want that any more.
     *
     * @return releasing, unless it was handed on before
     */
    public Step exportCancelled() {
        return phase == Phase.EXPORTING ? new Step(ended(Phase.RELEASING, null), LeaseAction.RELEASE) : stay();
    }

    /**
     * The holder wants to go on as a reader.
     *
     * @param nowNanos the time
     * @return asks the store, now or when the renewal in flight has ended; lost when the deadline has passed before
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
     * The store has made a reader of the claim.
     *
     * @param sent when it was asked
     * @param leaseNanos what the answer promises
     * @param nowNanos the time
     * @return a read lease goes on; lost when the answer came after the deadline; asks again when what it promises is over
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
     * Whether the store has made a reader of the claim is unknown.
     *
     * @param nowNanos the time
     * @return asks again soon; lost when the deadline has passed
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
     * The holder does not want that any more.
     *
     * @return releasing, unless a read lease goes on
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

    /** The last renewal has ended, so none comes after the next holder's release, or after the claim is a reader's. */
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
