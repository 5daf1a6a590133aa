package io.holdfast.races;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import java.time.Duration;

/** One client of a {@link HandStore} on a {@link HandTimer}, new for each round of a race. */
public final class Bench {

    public static final Duration LEASE = Duration.ofSeconds(30);

    /** The time limit of one request. */
    public static final Duration OPERATION = Duration.ofSeconds(2);

    /** The local deadline of a lease without a renewal: a margin before its end. */
    public static final long DEADLINE = Duration.ofMillis(29_698).toNanos();

    private static final LockOptions OPTIONS =
            LockOptions.builder().leaseDuration(LEASE).build();

    public final HandTimer timer = new HandTimer();
    public final HandStore store = new HandStore();
    public final LockClient client = LockClient.builder(store)
            .timer(timer)
            .options(OPTIONS)
            .operationTimeout(OPERATION)
            .closeBackend(false)
            .build();
    public final ReactiveLock lock = client.lock("a");

    /** Returns a lease that the back end has granted. */
    public LockLease lease() {
        Holder holder = new Holder();
        lock.acquire().subscribe(holder);
        store.grant();
        return holder.lease();
    }

    /** The description of a client with no request and no lease left. */
    public boolean isIdle() {
        return client.toString().contains("0 acquiring, 0 held, 0 releasing");
    }
}
