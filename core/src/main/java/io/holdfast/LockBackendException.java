package io.holdfast;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The store failed, refused, or could not be reached: the outcome of the request is unknown. Whatever it left behind is
 * released in the background. Its cause is the driver's error, where there is one.
 */
public final class LockBackendException extends LockException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final boolean isTransient;

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
    }

    /**
     * Whether trying again may help. The engine does so by itself while an acquisition waits.
     *
     * @return true for a lost connection or an answer that came too late; false for a wrong password, say
     */
    public boolean isTransient() {
        return isTransient;
    }
}
