package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Work under a lock of one client blocks the thread on which it begins, and another client holds a lock meanwhile. */
class BlockedEventLoopIT {

    private static final Duration LEASE = Duration.ofSeconds(1);

    private final AtomicBoolean isBlocking = new AtomicBoolean();
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final List<LockClient> clients = new ArrayList<>();
    private Store store;
    private Scheduler threads;

    /** What the work computes; written by it alone. */
    private long turns;

    @BeforeEach
    void start() {
        store = Store.start();
        threads = Schedulers.newBoundedElastic(2, 10, "may-block");
    }

    @AfterEach
    void stop() {
        isOver.set(true);
        clients.forEach(client -> await(client.close()));
        threads.dispose();
        store.close();
    }

    @Test
    void aClientWithTheSameResourcesLosesItsLease() {
        List<RedisLockBackend> together = together();
        LockLease lease = await(client(together.get(0), it -> it).lock("held").acquire());
        CompletableFuture<LossReason> loss = lease.onLoss().toFuture();

        block(client(together.get(1), it -> it));

        eventually(loss::isDone);
        assertThat(loss).isCompletedWithValue(LossReason.EXPIRED);
    }

    @Test
    void aClientWithResourcesOfItsOwnKeepsItsLease() {
        LockLease lease = await(client(store.backend(), it -> it).lock("held").acquire());

        block(client(store.backend(), it -> it));

        keeps(lease);
    }

    @Test
    void aClientWithTheSameResourcesKeepsItsLeaseIfTheWorkHasThreadsOfItsOwn() {
        List<RedisLockBackend> together = together();
        LockLease lease = await(client(together.get(0), it -> it).lock("held").acquire());

        block(client(together.get(1), it -> it.deliverOn(threads)));

        keeps(lease);
    }

    private List<RedisLockBackend> together() {
        return RedisLockBackend.buildTogether(
                List.of(RedisLockBackend.builder(store.uri()), RedisLockBackend.builder(store.uri())));
    }

    /**
     * The client waits, so the grant comes on its event loop, and the work begins there. The work computes for long:
     * BlockHound would not let it wait, nor call {@code onSpinWait}. It ends by itself, if the test can't end it.
     */
    private void block(LockClient client) {
        LockLease before =
                await(client(store.backend(), it -> it).lock("blocked").acquire());
        var unused = client.lock("blocked")
                .withLock(Mono.fromRunnable(() -> {
                    long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
                    isBlocking.set(true);
                    try {
                        while (!isOver.get() && System.nanoTime() - end < 0) {
                            turns++;
                        }
                    } finally {
                        isBlocking.set(false);
                    }
                }))
                .subscribe(nothing -> {}, error -> {});
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("blocked")) == 1);
        await(before.release());
        eventually(isBlocking::get);
    }

    /** Far longer than the lease lasts without renewals. */
    private void keeps(LockLease lease) {
        long until = store.micros() + LEASE.multipliedBy(4).toNanos() / 1_000;
        eventually(() -> store.micros() > until);
        assertThat(isBlocking).isTrue();
        assertThat(lease.isValid()).isTrue();
        assertThat(store.isHeld(Store.holderKey("held"))).isTrue();
    }

    private LockClient client(RedisLockBackend backend, UnaryOperator<LockClient.Builder> settings) {
        LockClient client = settings.apply(LockClient.builder(backend)
                        .options(LockOptions.builder().leaseDuration(LEASE).build()))
                .build();
        clients.add(client);
        return client;
    }
}
