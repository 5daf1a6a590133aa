package io.holdfast.internal.claim;

import io.holdfast.LockLostException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** The lease that a {@code withLock} holds while its work runs: of one lock, or of several. */
public interface GuardedLease {

    /** The {@code withLock} that holds a lease. */
    interface Holder {

        /** Handles the loss of the lease; not called after a release was requested. */
        void lost();

        /**
         * Handles the end of the release.
         *
         * @param failure why the lease ended before that; null if it did not
         */
        void released(@Nullable Throwable failure);
    }

    /** Returns a context with the lease, for acquisitions inside the work. */
    Context enter(Context context);

    /** Returns whether the lease is valid now. After false, the holder gets a loss, or has got it. */
    boolean isValid();

    /** Returns the error for the user when the lease does not hold the lock any more. Not called for a valid lease. */
    LockLostException lost();

    /**
     * Signals the loss to the one holder, at once if it has happened. Like {@code onLoss()}, without a chain of
     * operators.
     */
    void watchLoss(Holder holder);

    void stopWatchingLoss();

    /** Releases the lease in the background; no work has begun under it. */
    void releaseUnused();

    /** Releases the lease like a user. */
    Mono<Void> release();

    /**
     * Releases the lease, and passes the result to the holder. Like {@link #release()}, without a chain of operators.
     */
    void release(Holder holder);
}
