package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A lease ended before its work did: the lock does not protect what the work still does. Another client may hold it already, so
 * a write that must not be made twice has to carry the {@link #fencingToken()}.
 *
 * <p>The message says what happened. When renewals failed until the deadline passed, the cause is the failure of the last one.
 */
public final class LockLostException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final LossReason reason;
    private final long fencingToken;

    /**
     * Made where no more is known than the reason.
     *
     * @param lockName the lock
     * @param reason why it was lost
     * @param fencingToken the token of the lost lease
     */
    public LockLostException(String lockName, LossReason reason, long fencingToken) {
        this(lockName, reason, fencingToken, requireNonNull(reason, "reason").why(), null);
    }

    /**
     * Made by the engine.
     *
     * @param lockName the lock
     * @param reason why it was lost
     * @param fencingToken the token of the lost lease
     * @param why what happened, as words that fit after "was lost: "
     * @param cause the failure of the last renewal, if that is why
     */
    public LockLostException(
            String lockName, LossReason reason, long fencingToken, String why, @Nullable Throwable cause) {
        super(
                lockName,
                "lock '%s' (fencing token %d) was lost: %s; treat the work under it as unprotected"
                        .formatted(lockName, fencingToken, requireNonNull(why, "why")),
                cause);
        this.reason = requireNonNull(reason, "reason");
        this.fencingToken = fencingToken;
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
