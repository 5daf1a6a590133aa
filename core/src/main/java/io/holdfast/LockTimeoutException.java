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

    /**
     * Made by the engine.
     *
     * @param lockName the lock
     * @param waited how long, from subscription
     * @param attempts how many looks were sent
     * @param lastFailure the last failure of the back end, or null
     */
    public LockTimeoutException(String lockName, Duration waited, int attempts, @Nullable Throwable lastFailure) {
        super(lockName, message(lockName, waited, attempts, lastFailure), lastFailure);
        this.waited = requireNonNull(waited, "waited");
        this.attempts = attempts;
    }

    private static String message(String name, Duration waited, int attempts, @Nullable Throwable lastFailure) {
        String tried = "lock '%s' was not available within %d ms (%d %s)"
                .formatted(name, waited.toMillis(), attempts, attempts == 1 ? "look" : "looks");
        return lastFailure == null
                ? tried + "; somebody else held it all the time: wait longer, or hold it shorter"
                : tried + "; the back end failed meanwhile: " + lastFailure.getMessage();
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
     * How often the store was asked.
     *
     * @return the number of looks that were sent
     */
    public int attempts() {
        return attempts;
    }
}
