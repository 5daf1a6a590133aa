package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.support.Printable;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The root of the exceptions of this library, for a lock that could not be acquired or kept. Programming errors keep
 * the types of the JDK: {@link IllegalArgumentException}, {@link IllegalStateException},
 * {@link UnsupportedOperationException}.
 *
 * <p>A message is one printable line: characters of a name that do not print are escaped. {@link #lockName()} is the
 * unescaped name.
 */
public abstract sealed class LockException extends RuntimeException
        permits LockTimeoutException,
                LockLostException,
                LockBackendException,
                LockClosedException,
                LockQueueFullException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final String lockName;

    LockException(String lockName, String message, @Nullable Throwable cause) {
        super(Printable.text(message), cause);
        this.lockName = requireNonNull(lockName, "lockName");
    }

    /** {@return the name of the lock; empty when the failure concerns no single lock, as with a ping} */
    public final String lockName() {
        return lockName;
    }
}
