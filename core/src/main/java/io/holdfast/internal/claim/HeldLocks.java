package io.holdfast.internal.claim;

import io.holdfast.LockException;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockReport;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.support.Printable;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** The leases that the enclosing {@code withLock}s hold, innermost first: an immutable list in the Reactor Context. */
public final class HeldLocks {

    private static final Object KEY = HeldLocks.class;

    private final LeaseHandle lease;
    private final @Nullable HeldLocks outer;

    private HeldLocks(LeaseHandle lease, @Nullable HeldLocks outer) {
        this.lease = lease;
        this.outer = outer;
    }

    /** Each subscription is a nested view or a new claim; a member's lease is handed out with those of other locks. */
    public static Mono<LockLease> acquire(LockSettings lock, Mode mode, boolean isMember) {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super LockLease> subscriber) {
                LeaseHandle outer;
                try {
                    outer = covering(lock, subscriber.currentContext());
                } catch (IllegalStateException | LockException refused) {
                    Operators.error(subscriber, refused);
                    return;
                }
                if (outer != null) {
                    Mono.<LockLease>just(new NestedLease(outer)).subscribe(subscriber);
                } else {
                    subscriber.onSubscribe(new Claim(lock, mode, null, isMember, subscriber).emission);
                }
            }
        };
    }

    static Context with(LeaseHandle lease, Context context) {
        return context.put(KEY, new HeldLocks(lease, in(context)));
    }

    /**
     * Returns the lease that covers an acquisition of this lock: one of the same lock, or the write lease for a read
     * lock. No lease covers a permit of a semaphore, because permits are counted: nested acquisitions need as many
     * permits.
     *
     * @throws IllegalStateException if a read lock would be upgraded, or the lock is not re-entrant
     * @throws io.holdfast.LockLostException if that lease is lost
     */
    private static @Nullable LeaseHandle covering(LockSettings lock, ContextView context) {
        boolean isCounted = lock.key().kind() == LockKind.SEMAPHORE;
        HeldLocks held = isCounted ? null : in(context);
        while (held != null && !(held.isOf(lock) && held.covers(lock))) {
            held = held.outer;
        }
        return held == null ? null : held.lease;
    }

    public static @Nullable LockLease current(LockSettings lock, ContextView context) {
        for (HeldLocks held = in(context); held != null; held = held.outer) {
            if (held.isOf(lock) && !held.upgrades(lock.key()) && held.lease.isValid()) {
                return held.lease;
            }
        }
        return null;
    }

    static boolean isWork(Engine engine, ContextView context) {
        for (HeldLocks at = in(context); at != null; at = at.outer) {
            if (at.lease.lock().engine() == engine && at.lease.isHeld()) {
                return true;
            }
        }
        return false;
    }

    private static @Nullable HeldLocks in(ContextView context) {
        return context.getOrDefault(KEY, null);
    }

    private boolean isOf(LockSettings lock) {
        LockKey mine = lease.key();
        return lease.lock().engine() == lock.engine()
                && mine.name().equals(lock.key().name())
                && LockReport.Type.of(mine.kind())
                        == LockReport.Type.of(lock.key().kind());
    }

    private boolean covers(LockSettings lock) {
        if (lease.isReleased()) {
            return false;
        }
        checkRules(lock);
        if (lease.isValid()) {
            return true;
        }
        if (lease.isReleased()) {
            return false; // released on another thread, a moment ago
        }
        throw lease.lost();
    }

    private void checkRules(LockSettings lock) {
        if (upgrades(lock.key())) {
            throw new IllegalStateException(
                    "a read lock cannot be upgraded: lock '%s' is held for reading by this pipeline, so its write lock would wait for itself; take the write lock first"
                            .formatted(Printable.text(lock.name())));
        }
        if (!lock.options().reentrant()) {
            throw new IllegalStateException(
                    "lock '%s' is held by this pipeline already and is not reentrant: it would wait for itself"
                            .formatted(Printable.text(lock.name())));
        }
    }

    private boolean upgrades(LockKey wanted) {
        return lease.key().kind() == LockKind.READ && wanted.kind() == LockKind.WRITE;
    }
}
