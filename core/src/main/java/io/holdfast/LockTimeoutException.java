package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.io.Serial;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The lock was not available within {@link LockOptions#waitTimeout()}. The client withdrew the claim: the acquisition
 * holds nothing, and has no place in a queue. The cause is the last failure of the back end during the wait, if there
 * was one.
 */
public final class LockTimeoutException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final Duration waited;
    private final int attempts;
    private final boolean backendAnswered;

    /**
     * Makes an exception; for the engine, and for your own tests.
     *
     * @param lockName the lock
     * @param waited how long the acquisition waited, from the subscription
     * @param attempts how many attempts were sent
     * @param backendAnswered whether the back end answered the last finished attempt
     * @param lastFailure the last failure of the back end, or null
     */
    public LockTimeoutException(
            String lockName, Duration waited, int attempts, boolean backendAnswered, @Nullable Throwable lastFailure) {
        super(lockName, message(lockName, waited, attempts, backendAnswered, lastFailure), lastFailure);
        this.waited = requireNonNull(waited, "waited");
        this.attempts = attempts;
        this.backendAnswered = backendAnswered;
    }

    private static String message(
            String name, Duration waited, int attempts, boolean backendAnswered, @Nullable Throwable lastFailure) {
        String tried = "lock '%s' was not available within %d ms (%d %s)"
                .formatted(name, waited.toMillis(), attempts, attempts == 1 ? "attempt" : "attempts");
        if (lastFailure == null) {
            return backendAnswered
                    ? tried + "; it was held all the time: wait longer, or hold it shorter"
                    : tried + "; the back end has not answered: wait longer, or check that it is reachable";
        }
        return tried
                + (backendAnswered
                        ? "; another claim held it at the last attempt, but the back end failed before that: "
                        : "; the back end failed meanwhile: ")
                + lastFailure.getMessage();
    }

    /** {@return how long the acquisition waited, from the subscription, connection and back-end time included} */
    public Duration waited() {
        return waited;
    }

    /**
     * Returns whether the back end answered. It distinguishes a busy lock from an unreachable back end, for example for
     * the choice between HTTP status 409 and 503.
     *
     * @return true when the back end answered the last finished attempt: another claim held the lock then; false when
     *     that attempt failed, or none has finished
     */
    public boolean backendAnswered() {
        return backendAnswered;
    }

    /** {@return how many attempts the client sent} */
    public int attempts() {
        return attempts;
    }
}
