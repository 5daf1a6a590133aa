package io.holdfast.etcd;

import static java.util.Objects.requireNonNull;

import io.etcd.jetcd.op.Cmp;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;

/**
 * Makes a transaction of your data in etcd depend on a lease. etcd commits it only if the claim of the lease still holds the lock at that
 * moment. So no write of a former holder is ever committed, even after long pauses or with wrong clocks.
 *
 * <pre>{@code
 * client.getKVClient().txn()
 *         .If(EtcdFence.of(backend, lease))
 *         .Then(Op.put(key, value, PutOption.DEFAULT))
 *         .commit();
 * }</pre>
 *
 * <p>If {@code isSucceeded()} of the answer is false, the lease has ended, or a comparison of your own did not match. Nothing was written.
 *
 * <p>The data must be in the etcd of the locks, and the transaction must use a client with the same namespace. The comparisons belong to
 * this lease: ask again for each lease. If a transaction fails without an answer, it may have been committed, or may be later, while the
 * claim holds the lock.
 */
public final class EtcdFence {

    private EtcdFence() {}

    /**
     * Returns the comparisons for the {@code If} of a transaction. Sends nothing. You may add comparisons of your own.
     *
     * @param backend the back end of the lock client that acquired or adopted the lease
     * @param lease a lease of that client: of a mutex, a read/write lock or a semaphore
     * @return one or two comparisons. They never match if this back end does not know the lease
     * @throws LockLostException if the client knows that the lease has ended: by a release, its expiry, a downgrade, an export or an operator
     */
    public static Cmp[] of(EtcdLockBackend backend, LockLease lease) {
        requireNonNull(backend, "backend");
        requireNonNull(lease, "lease");
        if (!lease.isValid()) {
            throw LockLostException.refusedByFence(lease.lockName(), lease.fencingToken(), null);
        }
        return backend.fence(lease);
    }
}
