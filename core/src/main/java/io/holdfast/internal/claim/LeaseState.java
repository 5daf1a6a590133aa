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
 * then HELD again. RELEASED, EXPORTED and LOST are final. Each event checks the deadline, so that an answer after the
 * deadline does not bring a lease back.
 *
 * @param nextRenewalNanos when the next renewal is due; while DOWNGRADING the next request to downgrade
 * @param renewing whether a renewal is in flight, or was at the end; while DOWNGRADING a request to downgrade
 * @param confirmed false for a grant that was pushed or is in doubt, until it is renewed once; also false after a
 *     signal, until a request that was sent after the signal is confirmed
 * @param failures how many renewals failed in a row
 * @param lossReason null unless LOST
 */
record LeaseState(
        Phase phase,
        Hold hold,
        long sentAtNanos,
        long validUntilNanos,
        long nextRenewalNanos,
        boolean renewing,
        boolean confirmed,
        int failures,
        @Nullable LossReason lossReason)
        implements ClaimState {

    /** The phase of a lease. */
    enum Phase {
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
        /** The lease ended before it was released. */
        LOST
    }

    /** How the claim holds the lock. */
    enum Side {
        AS_GRANTED,
        /** As granted; but a request was sent that may have turned the writer into a reader. */
        BECOMING_READER,
        READER
    }

    /**
     * What changes only with the side.
     *
     * @param attempt the number of the last request that may take the lock; a release carries it
     */
    record Hold(long fencingToken, int attempt, Side side, long grantedAtNanos, LeaseTerms terms) {

        Hold becomingReader() {
            return new Hold(fencingToken, attempt + 1, Side.BECOMING_READER, grantedAtNanos, terms);
        }

        Hold reader() {
            return new Hold(fencingToken, attempt, Side.READER, grantedAtNanos, terms);
        }
    }

    /** The next state and the action. */
    record Step(LeaseState state, LeaseAction action) {}

    /**
     * Makes a new lease. A pushed grant is renewed soon, because it is short until it is confirmed; a grant whose loss
     * was signalled before it, at once.
     */
    static LeaseState of(Grant grant, int attempt, LeaseTerms terms, long nowNanos) {
        long renewal = switch (grant.standing()) {
            case CONFIRMED -> RenewalSchedule.next(grant.sentAtNanos(), grant.leaseNanos(), terms.gridPhaseNanos());
            case PUSHED -> RenewalSchedule.confirmation(nowNanos, grant.validUntilNanos());
            case DOUBTED -> nowNanos;
        };
        return new LeaseState(
                Phase.HELD,
                new Hold(grant.fencingToken(), attempt, Side.AS_GRANTED, nowNanos, terms),
                grant.sentAtNanos(),
                bounded(terms, grant.validUntilNanos()),
                renewal,
                false,
                grant.standing() == Grant.Standing.CONFIRMED,
                0,
                null);
    }

    /** Returns whether the lease may be used. */
    boolean isValid(long nowNanos) {
        return phase == Phase.HELD && !Validity.isOver(validUntilNanos, nowNanos);
    }

    /**
     * Returns whether the lease was lost because it reached the longest hold time, and not because renewals were
     * missing.
     */
    boolean reachedLongestHold() {
        return lossReason == LossReason.EXPIRED
                && terms().boundedHold()
                && Validity.isOver(terms().holdUntilNanos(), validUntilNanos);
    }

    LeaseTerms terms() {
        return hold.terms();
    }

    /** Returns whether the end was decided, and answered. */
    boolean isOver() {
        return phase == Phase.RELEASED || phase == Phase.LOST || phase == Phase.EXPORTED;
    }

    boolean isReader() {
        return hold.side() == Side.READER;
    }

    /** Returns whether the deadline passed before the back end had confirmed a downgrade. */
    boolean expiredOnItsWayToReader() {
        return lossReason == LossReason.EXPIRED && hold.side() == Side.BECOMING_READER && !reachedLongestHold();
    }

    @Override
    public boolean wantsWake() {
        return phase == Phase.HELD || isOnItsWayToReader();
    }

    @Override
    public long wakeAtNanos() {
        boolean wantsRequest = phase == Phase.DOWNGRADING || wantsRenewal();
        return wantsRequest && !renewing ? Validity.earlier(nextRenewalNanos, validUntilNanos) : validUntilNanos;
    }

    /** Handles the passing of time. */
    Step tick(long nowNanos) {
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

    /** Handles a signal that the lock may be lost. */
    Step verify(long nowNanos) {
        if (phase == Phase.DOWNGRADING) { // the read lease renews at once
            return new Step(downgrading(hold, nextRenewalNanos, renewing, false, failures), LeaseAction.NONE);
        }
        return phase != Phase.HELD
                ? stay()
                : new Step(held(sentAtNanos, validUntilNanos, nowNanos, renewing, false, failures), LeaseAction.NONE);
    }

    /** Handles a confirmed renewal. */
    Step renewed(long sent, long leaseNanos, boolean automatic, long nowNanos) {
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
        long until = bounded(terms(), Validity.until(sent, leaseNanos));
        if (Validity.isOver(until, nowNanos)) {
            return held(sent, until, nextRenewalNanos, stillRenewing, confirmed, failures)
                    .expired();
        }
        // The server may have processed a renewal from before the doubt before the signalled change: renew once more.
        boolean clears = confirmed || Validity.isOver(nextRenewalNanos, sent);
        long next = clears ? RenewalSchedule.next(sent, leaseNanos, terms().gridPhaseNanos()) : nextRenewalNanos;
        return new Step(held(sent, until, next, stillRenewing, clears, 0), LeaseAction.NONE);
    }

    /** Handles the answer that the claim does not hold the lock. */
    Step renewalDenied() {
        return lose(LossReason.NOT_HELD);
    }

    /** Handles a renewal with an unknown outcome: nothing is lost yet, another renewal follows soon. */
    Step renewalFailed(boolean automatic, long nowNanos) {
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

    /** Handles the end of the lease by the back end, its session, or the client. */
    Step lose(LossReason reason) {
        if (phase != Phase.HELD && phase != Phase.EXPORTING && !isOnItsWayToReader()) {
            return stay();
        }
        boolean storeMayHoldIt = reason != LossReason.NOT_HELD;
        return new Step(
                ended(Phase.LOST, reason),
                storeMayHoldIt ? LeaseAction.SIGNAL_LOSS_AND_RELEASE : LeaseAction.SIGNAL_LOSS);
    }

    /** Handles a release by the holder. */
    Step releaseAsked(long nowNanos) {
        if (phase != Phase.HELD) {
            return stay();
        }
        return Validity.isOver(validUntilNanos, nowNanos)
                ? expired()
                : new Step(ended(Phase.RELEASING, null), LeaseAction.RELEASE);
    }

    /** Handles the answer to the release. */
    Step releaseAnswered(Ownership ownership, boolean unknownBefore) {
        if (phase != Phase.RELEASING) {
            return stay();
        }
        return ownership == Ownership.HELD || unknownBefore
                ? new Step(ended(Phase.RELEASED, null), LeaseAction.SIGNAL_RELEASED)
                : new Step(ended(Phase.LOST, LossReason.NOT_HELD), LeaseAction.SIGNAL_LOSS);
    }

    /** Handles a release without a confirmation until the deadline; the server ends the lease by itself. */
    Step releaseGivenUp() {
        return phase != Phase.RELEASING ? stay() : new Step(ended(Phase.RELEASED, null), LeaseAction.SIGNAL_RELEASED);
    }

    /**
     * Handles an export by the holder. A grant that is short, or in doubt, is renewed first: the other process may need
     * some time.
     */
    Step exportAsked(long nowNanos) {
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

    /** Handles the cancellation of an export. */
    Step exportCancelled() {
        return phase == Phase.EXPORTING ? new Step(ended(Phase.RELEASING, null), LeaseAction.RELEASE) : stay();
    }

    /** Handles a downgrade by the holder. */
    Step downgradeAsked(long nowNanos) {
        if (phase != Phase.HELD) {
            return stay();
        }
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return expired();
        }
        return renewing ? new Step(ended(Phase.STOPPING, null), LeaseAction.STOP_RENEWING) : askForReadLease();
    }

    /** Handles the answer that the claim is now a reader. */
    Step downgraded(long sent, long leaseNanos, long nowNanos) {
        if (phase != Phase.DOWNGRADING) {
            return stay();
        }
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return expired();
        }
        long until = bounded(terms(), Validity.until(sent, leaseNanos));
        if (Validity.isOver(until, nowNanos)) {
            return downgradeFailed(nowNanos);
        }
        long next = confirmed ? RenewalSchedule.next(sent, leaseNanos, terms().gridPhaseNanos()) : nowNanos;
        return new Step(
                new LeaseState(Phase.HELD, hold.reader(), sent, until, next, false, confirmed, 0, null),
                LeaseAction.GO_ON_AS_READER);
    }

    /** Handles a request to downgrade with an unknown outcome. */
    Step downgradeFailed(long nowNanos) {
        if (phase != Phase.DOWNGRADING) {
            return stay();
        }
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return expired();
        }
        long next = RenewalSchedule.retry(nowNanos, validUntilNanos);
        return new Step(downgrading(hold, next, false, confirmed, failures + 1), LeaseAction.NONE);
    }

    /** Handles the cancellation of a downgrade. */
    Step downgradeCancelled() {
        return isOnItsWayToReader() ? new Step(ended(Phase.RELEASING, null), LeaseAction.RELEASE) : stay();
    }

    private Step askForReadLease() {
        // Its answer proves the lease, unless a signal comes meanwhile.
        return new Step(
                downgrading(hold.becomingReader(), nextRenewalNanos, true, true, failures),
                LeaseAction.ASK_FOR_READ_LEASE);
    }

    private LeaseState downgrading(Hold next, long nextNanos, boolean inFlight, boolean isConfirmed, int failed) {
        return new LeaseState(
                Phase.DOWNGRADING, next, sentAtNanos, validUntilNanos, nextNanos, inFlight, isConfirmed, failed, null);
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
        return terms().autoRenew() || !confirmed;
    }

    private static long bounded(LeaseTerms terms, long untilNanos) {
        return terms.boundedHold() ? Validity.earlier(untilNanos, terms.holdUntilNanos()) : untilNanos;
    }

    private Step expired() {
        return lose(LossReason.EXPIRED);
    }

    Step stay() {
        return new Step(this, LeaseAction.NONE);
    }

    private LeaseState held(long sent, long until, long next, boolean inFlight, boolean isConfirmed, int failed) {
        return new LeaseState(Phase.HELD, hold, sent, until, next, inFlight, isConfirmed, failed, null);
    }

    private LeaseState ended(Phase end, @Nullable LossReason reason) {
        return new LeaseState(
                end, hold, sentAtNanos, validUntilNanos, nextRenewalNanos, renewing, confirmed, failures, reason);
    }
}
