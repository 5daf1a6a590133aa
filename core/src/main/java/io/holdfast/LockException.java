package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The root of what this library signals when a lock could not be had or kept. Programming errors keep the types of the JDK:
 * {@link IllegalArgumentException}, {@link IllegalStateException}, {@link UnsupportedOperationException}.
 */
public abstract sealed class LockException extends RuntimeException
        permits LockTimeoutException, LockLostException, LockBackendException, LockClosedException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final String lockName;

    LockException(String lockName, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.lockName = requireNonNull(lockName, "lockName");
    }

    /**
     * The lock that this is about.
     *
     * @return its name; empty when the failure concerns no single lock, as with a ping
     */
    public final String lockName() {
        return lockName;
    }
}
