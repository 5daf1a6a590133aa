package io.holdfast.internal.claim;

import io.holdfast.LossReason;
import io.holdfast.internal.engine.LockTerms;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One lease from its grant to its end.
 *
 * <pre>
 *             renewed / failed              released                   answered, or given up
 *   HELD ───────────────────────▶ HELD    HELD ───────────▶ RELEASING ───────────────────────▶ RELEASED
 *     │  denied, deadline, loss signalled, client closed        │  answered "not held"
 *     └──────────────────────────▶ LOST                         └────────────────────────────▶ LOST
 * </pre>
 *
 * <p>HELD goes by EXPORTING to EXPORTED, and by STOPPING, if a renewal is in flight, to DOWNGRADING, then back to HELD.
 * RELEASED, EXPORTED and LOST are final. Each event checks the deadline, so that an answer after the deadline does
 * not bring a lease back.
 *
 * @param nextRenewalNanos when the next renewal is due; while DOWNGRADING the next request to downgrade
 * @param renewing whether a renewal is in flight, or was at the end; while DOWNGRADING a request to downgrade
 * @param confirmed false for a grant that was pushed or is in doubt, until it is renewed once; also false after a
 *     signal, until a request that was sent after the signal is confirmed
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

    enum Phase {
        HELD,
        RELEASING,
        RELEASED,
        /** The lease will be handed on to another process when a last renewal has ended. */
        EXPORTING,
        EXPORTED,
        /** The lease will become a read lease when the renewal in flight has ended. */
        STOPPING,
        /** The lease will become a read lease: the client sends the request until it is answered. */
        DOWNGRADING,
        LOST
    }

    enum Certainty {
        CONFIRMED,
        /** A pushed grant: it ends soon unless it is renewed. */
        PUSHED,
        /** The same, while an attempt is under way. */
        PUSHED_BEFORE_ANSWER,
        /** The back end has signalled a loss already, perhaps of an earlier attempt. */
        DOUBTED;

        boolean isAnswered() {
            return this == CONFIRMED || this == PUSHED;
        }
    }

    /** Which attempts of the claim were answered. */
    enum Answered {
        EACH,
        /** An adopter does not know the attempts of the exporter, but its number is later. */
        PERHAPS_NOT_THE_LAST,
        /** An attempt was never answered: it may still arrive, although later ones were answered. */
        NOT_ALL
    }

    enum Side {
        AS_GRANTED,
        /** As granted; but a request was sent that may have turned the writer into a reader. */
        BECOMING_READER,
        READER
    }

    /**
     * What changes only with the side.
     *
     * @param attempt of the last request that may take the lock
     * @param answered if not each attempt: after a loss, the one under way would take the lock again
     */
    record Hold(long fencingToken, int attempt, Answered answered, Side side, long grantedAtNanos, LockTerms terms) {

        static Hold granted(long token, int attempt, Answered answered, long nowNanos, LockTerms terms) {
            return new Hold(token, attempt, answered, Side.AS_GRANTED, nowNanos, terms);
        }

        Hold becomingReader() {
            return new Hold(fencingToken, attempt + 1, answered, Side.BECOMING_READER, grantedAtNanos, terms);
        }

        Hold reader() {
            return new Hold(fencingToken, attempt, answered, Side.READER, grantedAtNanos, terms);
        }

        Hold unanswered() {
            return new Hold(fencingToken, attempt, Answered.NOT_ALL, side, grantedAtNanos, terms);
        }

        boolean isEachAttemptAnswered() {
            return answered == Answered.EACH;
        }

        /** A store that has processed the last attempt may take no other for late. */
        int releaseAttempt() {
            return answered == Answered.NOT_ALL ? attempt + 1 : attempt;
        }

        long bounded(long untilNanos) {
            Optional<Duration> most = terms.options().maxHoldTime();
            return most.isEmpty()
                    ? untilNanos
                    : Validity.earlier(untilNanos, grantedAtNanos + most.get().toNanos());
        }
    }

    static LeaseState of(Hold hold, long sentAt, long leaseNanos, Certainty certainty) {
        long until = Validity.until(sentAt, leaseNanos);
        long renewal = switch (certainty) {
            case CONFIRMED ->
                RenewalSchedule.next(sentAt, leaseNanos, hold.terms().gridPhaseNanos());
            case PUSHED, PUSHED_BEFORE_ANSWER -> RenewalSchedule.confirmation(hold.grantedAtNanos(), until);
            case DOUBTED -> hold.grantedAtNanos();
        };
        boolean confirmed = certainty == Certainty.CONFIRMED;
        return new LeaseState(Phase.HELD, hold, sentAt, hold.bounded(until), renewal, false, confirmed, 0, null);
    }

    boolean isValid(long nowNanos) {
        return phase == Phase.HELD && !Validity.isOver(validUntilNanos, nowNanos);
    }

    boolean isOver() {
        return phase == Phase.RELEASED || phase == Phase.LOST || phase == Phase.EXPORTED;
    }

    boolean isReader() {
        return hold.side() == Side.READER;
    }

    /** Returns whether the holder has ended the lease of that side: no lease is nested in it, and no loss follows. */
    boolean isReleased(boolean asReader) {
        return isReader() != asReader || (phase != Phase.HELD && phase != Phase.LOST);
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

    @Override
    public Step tick(long nowNanos) {
        if (!wantsWake()) {
            return stay();
        }
        if (Validity.isOver(validUntilNanos, nowNanos)) {
            return expired();
        }
        boolean isDue = !renewing && Validity.isOver(nextRenewalNanos, nowNanos);
        if (isDue && phase == Phase.DOWNGRADING) {
            return askForReadLease();
        }
        return isDue && phase == Phase.HELD && wantsRenewal()
                ? new Step(
                        held(sentAtNanos, validUntilNanos, nextRenewalNanos, true, confirmed, failures), Action.RENEW)
                : stay();
    }

    @Override
    public Step signalled(WatchSignal signal, int sentAttempt, long nowNanos) {
        if (signal instanceof WatchSignal.Lost lost) {
            return lose(lost.reason(), true);
        }
        return signal instanceof WatchSignal.Granted ? stay() : unwatched(nowNanos);
    }

    /** The lock may be lost: the lease is renewed at once. */
    @Override
    public Step unwatched(long nowNanos) {
        if (phase == Phase.DOWNGRADING) {
            return none(downgrading(hold, nextRenewalNanos, renewing, false, failures));
        }
        return phase != Phase.HELD
                ? stay()
                : none(held(sentAtNanos, validUntilNanos, nowNanos, renewing, false, failures));
    }

    Step renewed(long sent, long leaseNanos, boolean automatic, long nowNanos) {
        if (phase != Phase.HELD) {
            return notHeldAndRenewed(automatic, nowNanos);
        }
        boolean stillRenewing = renewing && !automatic;
        if (sent - sentAtNanos < 0) {
            return unlessOver(
                    nowNanos,
                    none(held(sentAtNanos, validUntilNanos, nextRenewalNanos, stillRenewing, confirmed, failures)));
        }
        long until = hold.bounded(Validity.until(sent, leaseNanos));
        // The server may have processed a renewal from before the doubt before the signalled change: renew once more.
        boolean clears = confirmed || Validity.isOver(nextRenewalNanos, sent);
        long next = clears ? RenewalSchedule.next(sent, leaseNanos, hold.terms().gridPhaseNanos()) : nextRenewalNanos;
        LeaseState after = held(sent, until, next, stillRenewing, clears, 0);
        return unlessOver(nowNanos, after.unlessOver(nowNanos, none(after)));
    }

    Step renewalDenied() {
        return lose(LossReason.NOT_HELD, !hold.isEachAttemptAnswered());
    }

    Step renewalFailed(boolean automatic, long nowNanos) {
        if (phase != Phase.HELD) {
            return notHeldAndRenewed(automatic, nowNanos);
        }
        if (!automatic) {
            return unlessOver(nowNanos, stay());
        }
        long next = RenewalSchedule.retry(nowNanos, validUntilNanos);
        LeaseState after = held(sentAtNanos, validUntilNanos, next, false, confirmed, failures + 1);
        return after.unlessOver(nowNanos, none(after));
    }

    /**
     * A signal may be older than a grant or a renewal on its way: a back end with runs does not know which member of a broken
     * run was the owner, and may grant the lock to this claim again.
     */
    private Step lose(LossReason reason, boolean storeMayHoldIt) {
        if (!wantsWake() && phase != Phase.EXPORTING) {
            return stay();
        }
        return new Step(
                ended(Phase.LOST, reason), storeMayHoldIt ? Action.SIGNAL_LOSS_AND_RELEASE : Action.SIGNAL_LOSS);
    }

    @Override
    public Step closed() {
        return lose(LossReason.CLIENT_CLOSED, true);
    }

    Step releaseAsked(long nowNanos) {
        return phase != Phase.HELD ? stay() : unlessOver(nowNanos, to(Phase.RELEASING, Action.RELEASE));
    }

    Step releaseAnswered(Ownership ownership, boolean unknownBefore) {
        if (phase != Phase.RELEASING) {
            return stay();
        }
        return ownership == Ownership.HELD || unknownBefore
                ? to(Phase.RELEASED, Action.SIGNAL_RELEASED)
                : new Step(ended(Phase.LOST, LossReason.NOT_HELD), Action.SIGNAL_LOSS);
    }

    Step releaseGivenUp() {
        return phase != Phase.RELEASING ? stay() : to(Phase.RELEASED, Action.SIGNAL_RELEASED);
    }

    /** A grant that is short, or in doubt, is renewed first: the other process may need some time. */
    Step exportAsked(long nowNanos) {
        if (phase != Phase.HELD) {
            return stay();
        }
        return unlessOver(
                nowNanos,
                confirmed && !renewing
                        ? to(Phase.EXPORTED, Action.EXPORT)
                        : to(Phase.EXPORTING, renewing ? Action.STOP_RENEWING : Action.RENEW_BEFORE_EXPORT));
    }

    Step downgradeAsked(long nowNanos) {
        if (phase != Phase.HELD) {
            return stay();
        }
        return unlessOver(nowNanos, renewing ? to(Phase.STOPPING, Action.STOP_RENEWING) : askForReadLease());
    }

    Step successorCancelled() {
        return phase == Phase.EXPORTING || isOnItsWayToReader() ? to(Phase.RELEASING, Action.RELEASE) : stay();
    }

    Step downgraded(long sent, long leaseNanos, long nowNanos) {
        if (phase != Phase.DOWNGRADING) {
            return stay();
        }
        long until = hold.bounded(Validity.until(sent, leaseNanos));
        if (Validity.isOver(until, nowNanos)) {
            return downgradeFailed(nowNanos);
        }
        long next =
                confirmed ? RenewalSchedule.next(sent, leaseNanos, hold.terms().gridPhaseNanos()) : nowNanos;
        LeaseState reader = new LeaseState(Phase.HELD, hold.reader(), sent, until, next, false, confirmed, 0, null);
        return unlessOver(nowNanos, new Step(reader, Action.GO_ON_AS_READER));
    }

    Step downgradeFailed(long nowNanos) {
        long next = RenewalSchedule.retry(nowNanos, validUntilNanos);
        return phase != Phase.DOWNGRADING
                ? stay()
                : unlessOver(nowNanos, none(downgrading(hold.unanswered(), next, false, confirmed, failures + 1)));
    }

    private Step askForReadLease() {
        // Its answer proves the lease, unless a signal comes meanwhile.
        return new Step(
                downgrading(hold.becomingReader(), nextRenewalNanos, true, true, failures), Action.ASK_FOR_READ_LEASE);
    }

    private LeaseState downgrading(Hold next, long nextNanos, boolean inFlight, boolean isConfirmed, int failed) {
        return new LeaseState(
                Phase.DOWNGRADING, next, sentAtNanos, validUntilNanos, nextNanos, inFlight, isConfirmed, failed, null);
    }

    /** So no renewal arrives after the release by the next holder, or after the claim is a reader. */
    private Step notHeldAndRenewed(boolean automatic, long nowNanos) {
        if (!automatic || (phase != Phase.EXPORTING && phase != Phase.STOPPING)) {
            return stay();
        }
        return unlessOver(nowNanos, phase == Phase.EXPORTING ? to(Phase.EXPORTED, Action.EXPORT) : askForReadLease());
    }

    private boolean isOnItsWayToReader() {
        return phase == Phase.STOPPING || phase == Phase.DOWNGRADING;
    }

    private boolean wantsRenewal() {
        return hold.terms().options().autoRenew() || !confirmed;
    }

    private Step unlessOver(long nowNanos, Step step) {
        return Validity.isOver(validUntilNanos, nowNanos) ? expired() : step;
    }

    private Step expired() {
        boolean isBound = hold.bounded(validUntilNanos + 1) == validUntilNanos;
        return lose(isBound ? LossReason.MAX_HOLD_TIME : LossReason.EXPIRED, true);
    }

    Step stay() {
        return none(this);
    }

    private static Step none(LeaseState next) {
        return new Step(next, Action.NONE);
    }

    private Step to(Phase next, Action action) {
        return new Step(ended(next, null), action);
    }

    private LeaseState held(long sent, long until, long next, boolean inFlight, boolean isConfirmed, int failed) {
        return new LeaseState(Phase.HELD, hold, sent, until, next, inFlight, isConfirmed, failed, null);
    }

    private LeaseState ended(Phase end, @Nullable LossReason reason) {
        return new LeaseState(
                end, hold, sentAtNanos, validUntilNanos, nextRenewalNanos, renewing, confirmed, failures, reason);
    }
}
