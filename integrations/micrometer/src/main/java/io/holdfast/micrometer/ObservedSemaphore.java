package io.holdfast.micrometer;

import io.holdfast.LockKind;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveSemaphore;

/** A semaphore that observes each subscription, also those of its locks of several permits. */
final class ObservedSemaphore extends ObservedLock implements ReactiveSemaphore {

    private final ReactiveSemaphore semaphore;
    private final Observing observing;

    ObservedSemaphore(ReactiveSemaphore semaphore, Observing observing) {
        super(semaphore, LockKind.SEMAPHORE, observing);
        this.semaphore = semaphore;
        this.observing = observing;
    }

    @Override
    public ReactiveSemaphore with(LockOptions options) {
        return new ObservedSemaphore(semaphore.with(options), observing);
    }

    @Override
    public ReactiveLock permits(int taken) {
        return new ObservedLock(semaphore.permits(taken), LockKind.SEMAPHORE, observing);
    }
}
