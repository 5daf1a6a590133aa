package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.io.Serial;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The store failed, refused, or could not be reached: the outcome of the request is unknown. Whatever it left behind is
 * released in the background. Its cause is the driver's error, where there is one.
 */
public final class LockBackendException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final boolean isTransient;
    private final @Nullable Duration retryAfter;

    /**
     * Made by back ends and by the engine.
     *
     * @param lockName the lock; empty when the failure concerns no single lock
     * @param message which lock, what was tried, for how long, and what to do
     * @param isTransient whether the same request may succeed a moment later
     * @param cause the driver's error, or null
     */
    public LockBackendException(String lockName, String message, boolean isTransient, @Nullable Throwable cause) {
        super(lockName, message, cause);
        this.isTransient = isTransient;
        retryAfter = null;
    }

    private LockBackendException(String lockName, String message, Duration retryAfter) {
        super(lockName, message, null);
        isTransient = true;
        this.retryAfter = retryAfter;
    }

    /**
     * A request that the back end did not carry out, since it may not do so for a known time: a store in quarantine after its restart, for
     * example. It is transient.
     *
     * @param lockName the lock; empty when the failure concerns no single lock
     * @param message which lock, why not, for how long, and what to do
     * @param retryAfter how long the back end goes on refusing, as far as it knows
     * @return the failure
     * @throws IllegalArgumentException if the time is negative
     */
    public static LockBackendException notYet(String lockName, String message, Duration retryAfter) {
        requireNonNull(retryAfter, "retryAfter");
        if (retryAfter.isNegative()) {
            throw new IllegalArgumentException("retryAfter must not be negative, was " + retryAfter);
        }
        return new LockBackendException(lockName, message, retryAfter);
    }

    /**
     * Whether trying again may help. The engine does so by itself while an acquisition waits.
     *
     * @return true for a lost connection or an answer that came too late; false for a wrong password, say
     */
    public boolean isTransient() {
        return isTransient;
    }

    /**
     * Tells when the same request may succeed. An acquisition that waits makes its next attempt after this time, and a short random
     * pause. Without {@link LockOptions#waitTimeout()} it goes on waiting for as long as its attempts fail like this.
     *
     * @return empty when the back end does not know, which is usual; else the request was not carried out
     */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }
}
