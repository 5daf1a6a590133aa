package io.holdfast.spi;

import java.time.Duration;

/** The answer to {@link LockBackend#renew}. */
public sealed interface Renewal {

    /**
     * The claim holds the lock.
     *
     * @param lease the store's own expiry is at least the moment it processed the request plus this
     */
    record Held(Duration lease) implements Renewal {}

    /** The claim does not hold the lock; nothing was changed. */
    record NotHeld() implements Renewal {}
}
