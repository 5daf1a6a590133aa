package io.holdfast.internal.claim;

import io.holdfast.LockBackendException;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.internal.claim.LeaseState.Phase;
import io.holdfast.internal.claim.LeaseState.Side;
import org.jspecify.annotations.Nullable;

/** Why a lease does not hold its lock; {@code why} continues "was lost: ". */
record Loss(LossReason reason, String why, @Nullable LockBackendException cause) {

    static final Loss RELEASED = new Loss(LossReason.NOT_HELD, "it was released before");

    static final Loss OUTERMOST_RELEASED = new Loss(
            LossReason.NOT_HELD,
            "the outermost lease was released while work under this nested lease was still running; let the outermost withLock wait for that work, or start it outside, where it takes the lock itself");

    private Loss(LossReason reason, String why) {
        this(reason, why, null);
    }

    /** {@code lastFailure}: that of the renewals or requests to downgrade, unless a later one was confirmed. */
    static Loss of(LeaseState lease, boolean asReader, @Nullable LockBackendException lastFailure) {
        Phase phase = lease.phase();
        LossReason reason = lease.lossReason();
        if (lease.isReader() != asReader || phase == Phase.STOPPING || phase == Phase.DOWNGRADING) {
            return new Loss(LossReason.NOT_HELD, "it was given up for a read lease by downgrade()");
        }
        if (phase == Phase.EXPORTING || phase == Phase.EXPORTED) {
            return new Loss(LossReason.NOT_HELD, "it was handed on to another process by export()");
        }
        if (reason == null) {
            return RELEASED;
        }
        return switch (reason) {
            case EXPIRED -> expired(lease, lastFailure);
            case MAX_HOLD_TIME ->
                new Loss(
                        reason,
                        "its longest hold time%s (maxHoldTime) was reached"
                                .formatted(lease.hold()
                                        .terms()
                                        .options()
                                        .maxHoldTime()
                                        .map(it -> " of %d ms".formatted(it.toMillis()))
                                        .orElse("")));
            case NOT_HELD -> new Loss(reason, "the back end says that this lease does not hold it any more");
            case DISCONNECTED -> new Loss(reason, "the session with the server ended");
            case CLIENT_CLOSED -> new Loss(reason, "the lock client was closed");
        };
    }

    private static Loss expired(LeaseState lease, @Nullable LockBackendException lastFailure) {
        LockOptions options = lease.hold().terms().options();
        String why = "its deadline passed without a confirmed renewal; ";
        if (lease.hold().side() == Side.BECOMING_READER) {
            why = "its deadline passed before the back end confirmed the downgrade"
                    + (lastFailure == null ? "" : "; the last request failed: ");
        } else if (lastFailure != null) {
            why += lease.renewing()
                    ? "the last renewal was not answered by then, and the one before failed: "
                    : "the last renewal failed: ";
        } else if (lease.renewing()) {
            why += "a renewal was not answered by then: the server may be slow, or this process may have been paused";
        } else if (!options.autoRenew()) {
            why += "autoRenew is off";
        } else {
            why += lease.confirmed()
                    ? "no renewal had failed until then, so this process may have been paused"
                    : "this client did not run in time to confirm the grant: a waiter that is served has a short lease until then; the machine may be overloaded, or this process may have been paused";
        }
        return new Loss(LossReason.EXPIRED, lastFailure == null ? why : why + lastFailure.getMessage(), lastFailure);
    }

    LockLostException exception(String lockName, long fencingToken) {
        return new LockLostException(lockName, reason, fencingToken, why, cause);
    }
}
