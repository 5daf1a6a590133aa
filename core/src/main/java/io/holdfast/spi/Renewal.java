package io.holdfast.spi;

import io.holdfast.LockBackendException;
import java.time.Duration;

/** The answer to {@link LockBackend#renew}, and to each claim of {@link LockBackend#renewAll}. */
public sealed interface Renewal {

    /**
     * The claim holds the lock.
     *
     * @param lease the server keeps the lock at least this long, counted from the moment it processed the request
     */
    record Held(Duration lease) implements Renewal {}

    /** The claim does not hold the lock; nothing changed. */
    record NotHeld() implements Renewal {}

    /**
     * The outcome is unknown: {@link LockBackend#renewAll} answers this for a claim where {@link LockBackend#renew}
     * would fail. The lease stays until its local deadline, and the engine renews it again.
     *
     * @param failure the cause
     */
    record Unknown(LockBackendException failure) implements Renewal {}
}
