package io.holdfast.internal;

import io.holdfast.LockLostException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** What a {@code withLock} holds while its work runs: the lease of one lock, or those of many. */
interface GuardedLease {

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

    /** With what acquisitions inside the work are to find. */
    Context enter(Context context);

    /** Whether it is believed now. After false, its holder is told of a loss, or has been. */
    boolean isValid();

    /** What its user is told when the lease does not hold the lock any more. Not to be asked of a valid lease. */
    LockLostException lost();

    /** Tells the one holder of the loss, at once if it has happened. As {@code onLoss()}, without a chain of operators. */
    void watchLoss(Holder holder);

    void stopWatchingLoss();

    /** Releases it in the background; no work has begun under it. */
    void releaseUnused();

    /** As the user's. */
    Mono<Void> release();

    /** Releases, and tells the holder of that instead. As {@link #release()}, without a chain of operators. */
    void release(Holder holder);
}
