package io.holdfast.spi;

import io.holdfast.LockBackendException;
import java.time.Duration;

/** The answer to {@link LockBackend#renew}, and to each claim of {@link LockBackend#renewAll}. */
public sealed interface Renewal {

    /**
     * The claim holds the lock.
     *
     * @param lease the store's own expiry is at least the moment it processed the request plus this
     */
    record Held(Duration lease) implements Renewal {}

    /** The claim does not hold the lock; nothing was changed. */
    record NotHeld() implements Renewal {}

    /**
     * Whether the claim holds the lock is not known: what a failure of {@link LockBackend#renew} is for one of the claims of
     * {@link LockBackend#renewAll}. The lease stays until its local deadline, and is asked for again.
     *
     * @param failure why
     */
    record Unknown(LockBackendException failure) implements Renewal {}
}
