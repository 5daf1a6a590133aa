package io.holdfast.internal.claim;

import io.holdfast.LockLostException;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** A lease, or several, as the engine hands it out: to a subscriber, which may be a {@code withLock}. */
public interface GuardedLease {

    interface Holder {

        /** Not called after a release was requested. */
        void lost();

        /** Handles the end of the release; {@code failure}: why the lease ended before that. */
        default void released(@Nullable Throwable failure) {}
    }

    /** Called right before the holder gets a lease that was granted together with others. */
    default void handedOut() {}

    Context enter(Context context);

    /** Returns whether the lease is valid now. After false, the holder gets a loss, or has got it. */
    boolean isValid();

    /** Returns the error for the user when the lease does not hold the lock any more. Not called for a valid lease. */
    LockLostException lost();

    /** Signals the loss to the one holder, at once if it has happened. */
    void watchLoss(Holder holder);

    void stopWatchingLoss();

    /** Tells its holder something, now; the lock is not released for others meanwhile, for a limited time. */
    void tell(Runnable signal);

    /** Releases the lease in the background; no work has begun under it. */
    default void releaseUnused() {
        releaseInBackground();
    }

    Mono<Void> release();

    default void release(Holder holder) {
        stopWatchingLoss();
        Disposable unused = release().subscribe(none -> {}, holder::released, () -> holder.released(null));
    }

    default void releaseInBackground() {
        Disposable unused = release().subscribe(none -> {}, failure -> {});
    }

    /** An action that releases it. It keeps no user's object from being garbage collected, unless that is nested. */
    default Runnable giveBack() {
        return this::releaseInBackground;
    }
}
