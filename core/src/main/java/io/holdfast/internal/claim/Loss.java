package io.holdfast.internal.claim;

import io.holdfast.LockBackendException;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import org.jspecify.annotations.Nullable;

/**
 * The reason why a lease does not hold its lock, with the words for a message.
 *
 * @param reason the reason for programs
 * @param why what happened; continues "was lost: "
 * @param cause the failure of the last renewal, if the deadline passed because of it
 */
record Loss(LossReason reason, String why, @Nullable LockBackendException cause) {

    private static final Loss RELEASED = new Loss(LossReason.NOT_HELD, "it was released before", null);

    private static final Loss HANDED_ON =
            new Loss(LossReason.NOT_HELD, "it was handed on to another process by export()", null);

    private static final Loss DOWNGRADED =
            new Loss(LossReason.NOT_HELD, "it was given up for a read lease by downgrade()", null);

    private static final Loss OUTERMOST_RELEASED = new Loss(
            LossReason.NOT_HELD,
            "the outermost lease was released while work under this nested lease was still running; let the outermost withLock wait for that work, or start it outside, where it takes the lock itself",
            null);

    /** Returns the loss of a lease that is used after its own release. */
    static Loss released() {
        return RELEASED;
    }

    /** Returns the loss of a lease that is used after it was handed on. */
    static Loss handedOn() {
        return HANDED_ON;
    }

    /** Returns the loss of a lease that is used after its downgrade was requested. */
    static Loss downgraded() {
        return DOWNGRADED;
    }

    /**
     * Returns the loss of a lease whose deadline passed before the back end confirmed its downgrade.
     *
     * @param lastFailure the last failure of the requests to downgrade
     */
    static Loss notDowngraded(@Nullable LockBackendException lastFailure) {
        String passed = "its deadline passed before the back end confirmed the downgrade";
        return new Loss(
                LossReason.EXPIRED,
                lastFailure == null ? passed : passed + "; the last request failed: " + lastFailure.getMessage(),
                lastFailure);
    }

    /** Returns the loss of a nested lease that was not released before the outermost one. */
    static Loss outermostReleased() {
        return OUTERMOST_RELEASED;
    }

    /**
     * Returns the loss of a lease that ended before it was released.
     *
     * @param lastFailure the last failure of the renewals, unless a later one was confirmed
     */
    static Loss of(
            LeaseState lease, LossReason reason, LockOptions options, @Nullable LockBackendException lastFailure) {
        return switch (reason) {
            case EXPIRED -> expired(lease, options, lastFailure);
            case NOT_HELD -> new Loss(reason, "the back end says that this lease does not hold it any more", null);
            case DISCONNECTED -> new Loss(reason, "the session with the server ended", null);
            case CLIENT_CLOSED -> new Loss(reason, "the lock client was closed", null);
        };
    }

    private static Loss expired(LeaseState lease, LockOptions options, @Nullable LockBackendException lastFailure) {
        if (lease.reachedLongestHold()) {
            String limit = options.maxHoldTime()
                    .map(time -> " of %d ms".formatted(time.toMillis()))
                    .orElse("");
            return new Loss(
                    LossReason.EXPIRED, "its longest hold time%s (maxHoldTime) was reached".formatted(limit), null);
        }
        String passed = "its deadline passed without a confirmed renewal; ";
        return new Loss(LossReason.EXPIRED, passed + whatBecameOfRenewals(lease, lastFailure), lastFailure);
    }

    private static String whatBecameOfRenewals(LeaseState lease, @Nullable LockBackendException lastFailure) {
        if (lastFailure != null) {
            return (lease.renewing()
                            ? "the last renewal was not answered by then, and the one before failed: "
                            : "the last renewal failed: ")
                    + lastFailure.getMessage();
        }
        if (lease.renewing()) {
            return "a renewal was not answered by then: the server may be slow, or this process may have been paused";
        }
        if (lease.terms().autoRenew() && !lease.confirmed()) {
            return "this client did not run in time to confirm the grant: a waiter that is served has a short lease until then; the machine may be overloaded, or this process may have been paused";
        }
        return lease.terms().autoRenew()
                ? "no renewal had failed until then, so this process may have been paused"
                : "autoRenew is off";
    }

    LockLostException exception(String lockName, long fencingToken) {
        return new LockLostException(lockName, reason, fencingToken, why, cause);
    }
}
