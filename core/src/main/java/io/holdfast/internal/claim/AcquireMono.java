package io.holdfast.internal.claim;

import io.holdfast.LockException;
import io.holdfast.LockLease;
import io.holdfast.internal.engine.AcquirePlan;
import io.holdfast.internal.engine.LockSettings;
import java.util.Optional;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * The operator behind {@code acquire} and {@code tryAcquire}: each subscription is a nested view or a new claim.
 */
public final class AcquireMono extends Mono<LockLease> {

    private final LockSettings lock;
    private final AcquirePlan plan;
    private final boolean isMember;

    public AcquireMono(LockSettings lock, AcquirePlan plan) {
        this(lock, plan, false);
    }

    private AcquireMono(LockSettings lock, AcquirePlan plan, boolean isMember) {
        this.lock = lock;
        this.plan = plan;
        this.isMember = isMember;
    }

    /** Acquires one of several locks, whose leases are handed out together. */
    public static AcquireMono ofMember(LockSettings lock, AcquirePlan plan) {
        return new AcquireMono(lock, plan, true);
    }

    @Override
    public void subscribe(CoreSubscriber<? super LockLease> subscriber) {
        Optional<LeaseHandle> outer;
        try {
            outer = HeldLocks.covering(lock, subscriber.currentContext());
        } catch (IllegalStateException | LockException refused) {
            Operators.error(subscriber, refused);
            return;
        }
        if (outer.isPresent()) {
            Mono.<LockLease>just(new NestedLease(outer.get())).subscribe(subscriber);
        } else {
            subscriber.onSubscribe(new Claim(lock, plan, isMember, subscriber));
        }
    }
}
