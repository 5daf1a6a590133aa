package io.holdfast.blocking;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.support.HeldContext;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A blocking view of one lock. */
class OneLock extends CallerSide<LockLease> implements BlockingLock {

    private record Lease(LockLease lease, Holding<LockLease> holding) implements BlockingLease {

        @Override
        public void close() {
            holding.close(lease.release());
        }
    }

    private final ReactiveLock lock;

    OneLock(ReactiveLock lock, List<Permits> permits) {
        super(permits, LockLease::release, HeldContext::with);
        this.lock = lock;
    }

    final ReactiveLock reactive() {
        return lock;
    }

    @Override
    public final String name() {
        return lock.name();
    }

    @Override
    public BlockingLock with(LockOptions options) {
        return new OneLock(lock.with(options), permits());
    }

    @Override
    public final BlockingLease acquire() throws InterruptedException {
        return acquireWithin(Long.MAX_VALUE).orElseThrow();
    }

    @Override
    public final Optional<BlockingLease> tryAcquire() throws InterruptedException {
        ifInterrupted();
        return lease(trying(lock.tryAcquire()).within(Long.MAX_VALUE));
    }

    /** Waits no longer than the time; empty when it is over. */
    final Optional<BlockingLease> acquireWithin(long nanos) throws InterruptedException {
        ifInterrupted();
        return lease(acquiring(lock.acquire()).within(nanos));
    }

    /** An interrupt does not end the wait, and stays pending. */
    final BlockingLease acquireUninterruptibly() {
        return lease(requireNonNull(acquiring(lock.acquire()).uninterruptibly()))
                .orElseThrow();
    }

    /** As {@link #acquireUninterruptibly()}, for one attempt. */
    final Optional<BlockingLease> tryAcquireUninterruptibly() {
        return lease(trying(lock.tryAcquire()).uninterruptibly());
    }

    @Override
    public final <T extends @Nullable Object, E extends Exception> T withLock(LockedWork<T, E> work)
            throws E, InterruptedException {
        requireNonNull(work, "work");
        return underLock(lock::withLock, work::run);
    }

    private Optional<BlockingLease> lease(@Nullable LockLease acquired) {
        return acquired == null ? Optional.empty() : Optional.of(new Lease(acquired, hold(acquired)));
    }

    @Override
    public String toString() {
        return "blocking " + lock;
    }
}
