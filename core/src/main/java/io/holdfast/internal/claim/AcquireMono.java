package io.holdfast.internal.claim;

import io.holdfast.LockException;
import io.holdfast.LockLease;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms.Mode;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** Behind {@code acquire} and {@code tryAcquire}: each subscription is a nested view or a new claim. */
public final class AcquireMono extends Mono<LockLease> {

    private final LockSettings lock;
    private final Mode mode;
    private final boolean isMember;

    /** {@code isMember}: whether it is one of several locks, whose leases are handed out together. */
    public AcquireMono(LockSettings lock, Mode mode, boolean isMember) {
        this.lock = lock;
        this.mode = mode;
        this.isMember = isMember;
    }

    @Override
    public void subscribe(CoreSubscriber<? super LockLease> subscriber) {
        LeaseHandle outer;
        try {
            outer = HeldLocks.covering(lock, subscriber.currentContext());
        } catch (IllegalStateException | LockException refused) {
            Operators.error(subscriber, refused);
            return;
        }
        if (outer != null) {
            Mono.<LockLease>just(new NestedLease(outer)).subscribe(subscriber);
        } else {
            subscriber.onSubscribe(new Claim(lock, mode, null, isMember, subscriber).emission());
        }
    }
}
