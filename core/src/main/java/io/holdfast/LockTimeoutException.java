package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.io.Serial;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * {@link LockOptions#waitTimeout()} passed and the lock was not available. The claim was withdrawn: nothing is held and no
 * place in a queue is kept. Its cause is the last failure of the back end while waiting, if there was one.
 */
public final class LockTimeoutException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final Duration waited;
    private final int attempts;
    private final boolean backendAnswered;

    /**
     * Made by the engine.
     *
     * @param lockName the lock
     * @param waited how long, from subscription
     * @param attempts how many attempts were sent
     * @param backendAnswered whether the back end answered the last attempt that ended
     * @param lastFailure the last failure of the back end, or null
     */
    public LockTimeoutException(
            String lockName, Duration waited, int attempts, boolean backendAnswered, @Nullable Throwable lastFailure) {
        super(lockName, message(lockName, waited, attempts, backendAnswered, lastFailure), lastFailure);
        this.waited = requireNonNull(waited, "waited");
        this.attempts = attempts;
        this.backendAnswered = backendAnswered;
    }

    /**
     * For tests of your own: the back end answered the last attempt if there is no failure.
     *
     * @param lockName the lock
     * @param waited how long, from subscription
     * @param attempts how many attempts were sent
     * @param lastFailure the last failure of the back end, or null
     */
    public LockTimeoutException(String lockName, Duration waited, int attempts, @Nullable Throwable lastFailure) {
        this(lockName, waited, attempts, lastFailure == null, lastFailure);
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
                + (backendAnswered ? "; it was taken at the last attempt, and before" : ";")
                + " the back end failed meanwhile: " + lastFailure.getMessage();
    }

    /**
     * How long was waited.
     *
     * @return measured on the client's monotonic clock from subscription, connection and back-end time included
     */
    public Duration waited() {
        return waited;
    }

    /**
     * Tells a lock that is busy from a back end that is away, such as for the choice between 409 and 503 of HTTP.
     *
     * @return true when the back end answered the last attempt that ended: somebody else had the lock then; false when that attempt
     *     failed, or none has ended
     */
    public boolean backendAnswered() {
        return backendAnswered;
    }

    /**
     * How often the store was asked.
     *
     * @return the number of attempts that were sent
     */
    public int attempts() {
        return attempts;
    }
}
