package io.holdfast.internal;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import org.jspecify.annotations.Nullable;

/** What the engine knows of each lease that it hands out. */
interface EngineLease extends LockLease {

    /** The {@code withLock} that a lease is held by. */
    interface Holder {

        /** The lease was lost; not after its release was asked for. */
        void lost();

        /**
         * The release has ended.
         *
         * @param failure why the lease did not last until then; null if it did
         */
        void released(@Nullable Throwable failure);
    }

    /** What its user is told when the lease does not hold the lock any more. Not to be asked of a valid lease. */
    LockLostException lost();

    /** Tells the one holder of the loss, at once if it has happened. As {@link #onLoss()}, without a chain of operators. */
    void watchLoss(Holder holder);

    void stopWatchingLoss();

    /** Releases, and tells the holder of that instead. As {@link #release()}, without a chain of operators. */
    void release(Holder holder);
}
