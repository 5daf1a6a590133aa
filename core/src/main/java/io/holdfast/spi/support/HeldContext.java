package io.holdfast.spi.support;

import io.holdfast.LockLease;
import io.holdfast.MultiLease;
import io.holdfast.internal.claim.GuardedLease;
import reactor.util.context.Context;

/**
 * Puts leases into a Reactor Context, as {@code withLock} does for its work. It is for integrations whose callers have
 * no Reactor Context, such as blocking code: they know in another way which leases a caller holds.
 */
public final class HeldContext {

    private HeldContext() {}

    /**
     * Adds a lease. Acquisitions of its lock with the new context are nested in it, and the work that makes them may go
     * on while the client is drained. The lease cannot be downgraded any more.
     *
     * @param lease from {@code acquire} or {@code tryAcquire}
     * @param context the context so far
     * @return the context with the lease; the same one for a nested lease, and for a lease that a test has made
     */
    public static Context with(LockLease lease, Context context) {
        return added(lease, context);
    }

    /**
     * {@return the context with the leases of several locks}
     *
     * @param leases from {@code acquire} or {@code tryAcquire}
     * @param context the context so far
     */
    public static Context with(MultiLease leases, Context context) {
        return added(leases, context);
    }

    private static Context added(Object lease, Context context) {
        return lease instanceof GuardedLease own ? own.enter(context) : context;
    }
}
