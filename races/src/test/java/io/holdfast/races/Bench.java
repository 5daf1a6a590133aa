package io.holdfast.races;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import java.time.Duration;

/** One client of a {@link HandStore} on a {@link HandTimer}, made anew for each round of a race. */
public final class Bench {

    public static final Duration LEASE = Duration.ofSeconds(30);

    /** How long one request may take. */
    public static final Duration OPERATION = Duration.ofSeconds(2);

    /** By then a lease without a renewal is over for its holder: a margin before its end. */
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

    /** A lease that the store has granted. */
    public LockLease lease() {
        Holder holder = new Holder();
        lock.acquire().subscribe(holder);
        store.grant();
        return holder.lease();
    }

    /** The client as it shows itself, for what should be over. */
    public boolean isIdle() {
        return client.toString().contains("0 acquiring, 0 held, 0 releasing");
    }
}
