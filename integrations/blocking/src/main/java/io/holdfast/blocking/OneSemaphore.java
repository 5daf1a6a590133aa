package io.holdfast.blocking;

import io.holdfast.LockOptions;
import io.holdfast.ReactiveSemaphore;
import java.util.List;

/** A blocking view of a semaphore. */
final class OneSemaphore extends OneLock implements BlockingSemaphore {

    private final ReactiveSemaphore semaphore;
    private final Permits one;

    OneSemaphore(ReactiveSemaphore semaphore, Permits one) {
        super(semaphore, List.of(one));
        this.semaphore = semaphore;
        this.one = one;
    }

    @Override
    public BlockingSemaphore with(LockOptions options) {
        return new OneSemaphore(semaphore.with(options), one);
    }

    @Override
    public BlockingLock permits(int taken) {
        return new OneLock(semaphore.permits(taken), List.of(one.taking(taken)));
    }
}
