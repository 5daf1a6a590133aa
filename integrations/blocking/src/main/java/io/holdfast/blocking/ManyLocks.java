package io.holdfast.blocking;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.spi.support.HeldContext;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A blocking view of several locks. */
final class ManyLocks extends CallerSide<MultiLease> implements BlockingMultiLock {

    private record Leases(MultiLease leases, Holding<MultiLease> holding) implements BlockingMultiLease {

        @Override
        public void close() {
            holding.close(leases.release());
        }
    }

    private final ReactiveMultiLock locks;

    ManyLocks(ReactiveMultiLock locks, List<Permits> permits) {
        super(permits, MultiLease::release, HeldContext::with);
        this.locks = locks;
    }

    @Override
    public List<String> names() {
        return locks.names();
    }

    @Override
    public BlockingMultiLock with(LockOptions options) {
        return new ManyLocks(locks.with(options), permits());
    }

    @Override
    public BlockingMultiLease acquire() throws InterruptedException {
        ifInterrupted();
        return leases(acquiring(locks.acquire()).within(Long.MAX_VALUE)).orElseThrow();
    }

    @Override
    public Optional<BlockingMultiLease> tryAcquire() throws InterruptedException {
        ifInterrupted();
        return leases(trying(locks.tryAcquire()).within(Long.MAX_VALUE));
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T withLock(LockedWorkOfMany<T, E> work)
            throws E, InterruptedException {
        requireNonNull(work, "work");
        return underLock(locks::withLock, work::run);
    }

    private Optional<BlockingMultiLease> leases(@Nullable MultiLease acquired) {
        return acquired == null ? Optional.empty() : Optional.of(new Leases(acquired, hold(acquired)));
    }

    @Override
    public String toString() {
        return "blocking " + locks;
    }
}
