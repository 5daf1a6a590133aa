package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.io.Serial;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The back end failed, refused, or was not reachable: the outcome of the request is unknown. If the request took
 * effect, the client undoes it in the background. Its cause is the driver's error, where there is one.
 */
public final class LockBackendException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final boolean isTransient;
    private final @Nullable Duration retryAfter;
    private final boolean isUnderWay;

    /**
     * Makes an exception for a request that may be under way still; for back ends and the engine.
     *
     * @param lockName the lock; empty when the failure concerns no single lock
     * @param message which lock, what was tried, for how long, and what to do
     * @param isTransient whether the same request may succeed a moment later
     * @param cause the driver's error, or null
     */
    public LockBackendException(String lockName, String message, boolean isTransient, @Nullable Throwable cause) {
        this(lockName, message, isTransient, cause, null, true);
    }

    private LockBackendException(
            String lockName,
            String message,
            boolean isTransient,
            @Nullable Throwable cause,
            @Nullable Duration retryAfter,
            boolean isUnderWay) {
        super(lockName, message, cause);
        this.isTransient = isTransient;
        this.retryAfter = retryAfter;
        this.isUnderWay = isUnderWay;
    }

    /**
     * {@return an exception for a request that is over: the server has answered it with an error, or it was not sent}
     *
     * @param lockName the lock; empty when the failure concerns no single lock
     * @param message which lock, what was tried, and what to do
     * @param isTransient whether the same request may succeed a moment later
     * @param cause the driver's error, or null
     */
    public static LockBackendException notUnderWay(
            String lockName, String message, boolean isTransient, @Nullable Throwable cause) {
        return new LockBackendException(lockName, message, isTransient, cause, null, false);
    }

    /**
     * Makes an exception for a request that the back end may not carry out for a known time: a server in quarantine
     * after its restart, for example. The failure is transient.
     *
     * @param lockName the lock; empty when the failure concerns no single lock
     * @param message which lock, why not, for how long, and what to do
     * @param retryAfter how long the back end will go on refusing, as far as it knows
     * @return the exception
     * @throws IllegalArgumentException if the time is negative
     */
    public static LockBackendException notYet(String lockName, String message, Duration retryAfter) {
        requireNonNull(retryAfter, "retryAfter");
        if (retryAfter.isNegative()) {
            throw new IllegalArgumentException("retryAfter must not be negative, was " + retryAfter);
        }
        return new LockBackendException(lockName, message, true, null, retryAfter, false);
    }

    /**
     * Returns whether another attempt may help. While an acquisition waits, the client repeats transient failures by
     * itself.
     *
     * @return true for a lost connection or a late answer; false for a wrong password, for example
     */
    public boolean isTransient() {
        return isTransient;
    }

    /**
     * Returns when the same request may succeed. A waiting acquisition sends its next attempt after this time and a
     * short random pause. Without {@link LockOptions#waitTimeout()} it goes on waiting as long as its attempts fail
     * like this.
     *
     * @return empty when the back end does not know the time, which is usual; otherwise the back end did not carry out
     *     the request
     */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /**
     * Returns whether the request may arrive at the server later than this failure. Then the client has to prevent a
     * late effect of it, which may cost the server some memory for a while.
     *
     * @return true if no answer came, or if the back end does not know better; false if the server has answered with an
     *     error, or the request was not sent
     */
    public boolean isUnderWay() {
        return isUnderWay;
    }
}
