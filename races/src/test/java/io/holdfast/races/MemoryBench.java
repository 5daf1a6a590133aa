package io.holdfast.races;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.memory.InMemoryLockBackend;

/** One client of the real back end in memory, on a {@link HandTimer}, new for each round of a race. */
public final class MemoryBench {

    private static final LockOptions OPTIONS =
            LockOptions.builder().leaseDuration(Bench.LEASE).build();

    public final HandTimer timer = new HandTimer();
    public final InMemoryLockBackend store = InMemoryLockBackend.create(timer);
    public final LockClient client = LockClient.builder(store)
            .timer(timer)
            .options(OPTIONS)
            .closeBackend(false)
            .build();
    public final ReactiveLock lock = client.lock("a");

    /** Returns a lease of the free lock. */
    public LockLease lease() {
        Holder holder = new Holder();
        lock.acquire().subscribe(holder);
        return holder.lease();
    }
}
