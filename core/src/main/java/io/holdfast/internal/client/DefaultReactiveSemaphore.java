package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveSemaphore;
import io.holdfast.internal.engine.LockSettings;

/** A semaphore whose acquisition takes one permit; its locks of several permits are {@link DefaultReactiveLock}s. */
final class DefaultReactiveSemaphore extends DefaultReactiveLock implements ReactiveSemaphore {

    DefaultReactiveSemaphore(LockSettings settings) {
        super(settings);
    }

    @Override
    public ReactiveSemaphore with(LockOptions options) {
        return new DefaultReactiveSemaphore(settings.with(requireNonNull(options, "options")));
    }

    @Override
    public ReactiveLock permits(int taken) {
        return new DefaultReactiveLock(settings.withPermits(taken));
    }
}
