package io.holdfast.spring;

import io.holdfast.LockLease;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** Finds the lease under which a {@link Locked} method runs, through the Reactor Context. */
public final class LockedLease {

    private static final Object KEY = LockedLease.class;

    private LockedLease() {}

    static Context with(LockLease lease, Context context) {
        return context.put(KEY, lease);
    }

    /**
     * Emits the lease of the innermost {@link Locked} method around the caller. No I/O.
     *
     * @return never empty; fails with {@link IllegalStateException} if the subscriber is not the result of such a method
     */
    public static Mono<LockLease> current() {
        return Mono.deferContextual(
                context -> context.hasKey(KEY)
                        ? Mono.just(context.<LockLease>get(KEY))
                        : Mono.error(
                                new IllegalStateException(
                                        "no lease: not inside a @Locked method, or called from a method of the same object, which takes no lock")));
    }

    /**
     * Emits the fencing token of that lease. Send it with each write.
     *
     * @return as {@link #current()}
     */
    public static Mono<Long> fencingToken() {
        return current().map(LockLease::fencingToken);
    }
}
