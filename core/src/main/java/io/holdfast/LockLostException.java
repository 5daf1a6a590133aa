package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A lease ended before its work: the lock no longer protects the rest of the work. Another client may hold the lock
 * already, so a write that would do harm twice must carry the {@link #fencingToken()}.
 *
 * <p>The message says what happened. When renewals failed until the deadline, the cause is the failure of the last one.
 */
public final class LockLostException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final LossReason reason;
    private final long fencingToken;

    /**
     * Makes an exception when only the reason is known.
     *
     * @param lockName the lock
     * @param reason why the lease was lost
     * @param fencingToken the token of the lost lease
     */
    public LockLostException(String lockName, LossReason reason, long fencingToken) {
        this(lockName, reason, fencingToken, requireNonNull(reason, "reason").why(), null);
    }

    /**
     * Makes an exception; for the engine.
     *
     * @param lockName the lock
     * @param reason why the lease was lost
     * @param fencingToken the token of the lost lease
     * @param why what happened, in words that fit after "was lost: "
     * @param cause the failure of the last renewal, if it caused the loss
     */
    public LockLostException(
            String lockName, LossReason reason, long fencingToken, String why, @Nullable Throwable cause) {
        this(
                reason,
                lockName,
                fencingToken,
                requireNonNull(why, "why") + "; treat the work under it as unprotected",
                cause);
    }

    private LockLostException(
            LossReason reason, String lockName, long fencingToken, String whyAndWhatToDo, @Nullable Throwable cause) {
        super(
                lockName,
                "lock '%s' (fencing token %d) was lost: %s".formatted(lockName, fencingToken, whyAndWhatToDo),
                cause);
        this.reason = requireNonNull(reason, "reason");
        this.fencingToken = fencingToken;
    }

    /**
     * Makes an exception for a failed check of the lease in the transaction that writes the data. The transaction is
     * rolled back, so nothing is written.
     *
     * @param lockName the lock
     * @param fencingToken the token that was checked
     * @param cause the error of the database, if there is one
     * @return an exception with the reason {@link LossReason#NOT_HELD}
     */
    public static LockLostException refusedByFence(String lockName, long fencingToken, @Nullable Throwable cause) {
        return new LockLostException(
                LossReason.NOT_HELD,
                lockName,
                fencingToken,
                "the fence refused it: roll back, and nothing is written; the work may be repeated",
                cause);
    }

    /** {@return the reason that {@link LockLease#onLoss()} signalled} */
    public LossReason reason() {
        return reason;
    }

    /** {@return the token of the lost lease, greater than 0} */
    public long fencingToken() {
        return fencingToken;
    }
}
