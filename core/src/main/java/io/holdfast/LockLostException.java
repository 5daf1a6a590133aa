package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.io.Serial;

/**
 * A lease ended before its work did: whatever the work still does is not protected by the lock. Somebody else may hold it
 * already, so a write that must not be made twice has to carry the {@link #fencingToken()}.
 */
public final class LockLostException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final LossReason reason;
    private final long fencingToken;

    /**
     * Made by the engine.
     *
     * @param lockName the lock
     * @param reason why it was lost
     * @param fencingToken the token of the lost lease
     */
    public LockLostException(String lockName, LossReason reason, long fencingToken) {
        super(lockName, message(lockName, requireNonNull(reason, "reason"), fencingToken), null);
        this.reason = reason;
        this.fencingToken = fencingToken;
    }

    private static String message(String name, LossReason reason, long token) {
        String why = switch (reason) {
            case EXPIRED -> "its deadline passed without a confirmed renewal, or its longest hold time was reached";
            case NOT_HELD -> "the store says that this lease does not hold it any more";
            case DISCONNECTED -> "the session with the store ended";
            case CLIENT_CLOSED -> "the lock client was closed";
        };
        return "lock '%s' (fencing token %d) was lost: %s; treat the work under it as unprotected"
                .formatted(name, token, why);
    }

    /**
     * Why the lease was lost.
     *
     * @return the reason that {@link LockLease#onLoss()} gave
     */
    public LossReason reason() {
        return reason;
    }

    /**
     * The token of the lost lease.
     *
     * @return greater than 0
     */
    public long fencingToken() {
        return fencingToken;
    }
}
