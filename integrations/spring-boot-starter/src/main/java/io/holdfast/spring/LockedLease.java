package io.holdfast.spring;

import io.holdfast.LockLease;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** Finds the lease under which a {@link Locked} method runs: through the Reactor Context, or on the thread of a method that blocks. */
public final class LockedLease {

    private static final Object KEY = LockedLease.class;

    private static final String NONE =
            "no lease: not inside a @Locked method, or called from a method of the same object, which takes no lock";

    private static final ThreadLocal<@Nullable Held> OF_THREAD = new ThreadLocal<>();

    /** {@code inner}: the object behind the proxy that has taken the lock. It may be a proxy too. */
    private record Held(LockLease lease, @Nullable Object inner) {}

    private LockedLease() {}

    /** Runs a method that blocks. */
    static @Nullable Object around(LockLease lease, @Nullable Object inner, Callable<@Nullable Object> method)
            throws Exception {
        Held outer = OF_THREAD.get();
        OF_THREAD.set(new Held(lease, inner));
        try {
            return method.call();
        } finally {
            OF_THREAD.set(outer);
        }
    }

    static boolean isTakenFor(Object proxy) {
        Held held = OF_THREAD.get();
        return held != null && held.inner() == proxy;
    }

    /**
     * Returns the lease of the innermost {@link Locked} method around the caller that blocks, on this thread.
     *
     * @return the lease
     * @throws IllegalStateException if there is no such method
     */
    public static LockLease ofThread() {
        Held held = OF_THREAD.get();
        if (held == null) {
            throw new IllegalStateException(NONE);
        }
        return held.lease();
    }

    static Context with(LockLease lease, Context context) {
        return context.put(KEY, lease);
    }

    /**
     * Emits the lease of the innermost {@link Locked} method around the caller. No I/O.
     *
     * @return never empty; fails with {@link IllegalStateException} if the subscriber is not the result of such a method
     */
    public static Mono<LockLease> current() {
        return Mono.deferContextual(context -> context.hasKey(KEY)
                ? Mono.just(context.<LockLease>get(KEY))
                : Mono.error(new IllegalStateException(NONE)));
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
