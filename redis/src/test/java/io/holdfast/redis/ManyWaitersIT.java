package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Many waiters: for as many locks, and for one. */
class ManyWaitersIT {

    /** So long that no waiter sends another attempt while the test runs. */
    private static final LockOptions OPTIONS =
            LockOptions.builder().leaseDuration(Duration.ofMinutes(2)).build();

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final int AT_ONCE = 500;

    private Store store;
    private final List<LockClient> clients = new ArrayList<>();

    /** Signals of all clients: those of a grant, and those of a hint. */
    private final AtomicInteger grants = new AtomicInteger();

    private final AtomicInteger hints = new AtomicInteger();

    /** Locks whose waiters may have an attempt under way when they are granted: those that open a channel. */
    private String attemptsWhenGranted = "warm-up";

    @BeforeEach
    void start() {
        store = Store.start();
    }

    @AfterEach
    void stop() {
        clients.forEach(client -> await(client.close()));
        // A claim with an attempt under way at its grant leaves a tombstone for 30 s.
        assertThat(store.leftovers()).isEmpty();
        assertThat(store.keys())
                .filteredOn(key -> key.contains(":gone"))
                .allMatch(key -> key.contains(attemptsWhenGranted));
        store.close();
    }

    @Test
    void tenThousandWaitersOfOneClientNeedOneConnection() {
        int locks = 10_000;
        LockClient holder = client();
        AttemptsUnderWay attempts = attempts();
        LockClient waiter = client(attempts);
        List<LockLease> held = Objects.requireNonNull(inTime(Flux.range(0, locks)
                .flatMap(n -> holder.lock("cart/" + n).acquire(), 256)
                .collectList()));
        long withoutWaiter = store.clients();
        store.redis().configResetstat();

        List<CompletableFuture<Integer>> served = new ArrayList<>();
        while (served.size() < locks) {
            for (int i = 0; i < AT_ONCE; i++) {
                int number = served.size();
                served.add(waiter.lock("cart/" + number)
                        .withLock(Mono.just(number))
                        .toFuture());
            }
            eventually(() -> attempts.areOver(served.size()));
        }
        assertThat(joined()).isEqualTo(locks);

        assertThat(store.clients() - withoutWaiter)
                .as("connections of the waiting client")
                .isEqualTo(1);
        assertThat(store.redis().pubsubChannels()).hasSize(2);
        assertThat(inTime(Flux.fromIterable(held)
                        .flatMap(lease -> lease.release().thenReturn(1), 256)
                        .count()))
                .isEqualTo(locks);
        served.forEach(one -> assertThat(one).succeedsWithin(PATIENCE));
        assertThat(grants).hasValue(locks);
        assertThat(store.clients() - withoutWaiter).isEqualTo(1);
    }

    @Test
    void tenThousandWaitersThatComeAtOnceKeepTheirChannelAndAreServed() {
        int locks = 10_000;
        attemptsWhenGranted = "cart/";
        LockClient holder = client();
        LockClient waiter = client(attempts());
        List<LockLease> held = Objects.requireNonNull(inTime(Flux.range(0, locks)
                .flatMap(n -> holder.lock("cart/" + n).acquire(), 256)
                .collectList()));
        store.redis().configResetstat();

        List<CompletableFuture<Integer>> served = new ArrayList<>();
        for (int i = 0; i < locks; i++) {
            served.add(waiter.lock("cart/" + i).withLock(Mono.just(i)).toFuture());
        }
        eventually(() -> joined() == locks);
        assertThat(inTime(Flux.fromIterable(held)
                        .flatMap(lease -> lease.release().thenReturn(1), 256)
                        .count()))
                .isEqualTo(locks);
        served.forEach(one -> assertThat(one).succeedsWithin(PATIENCE));

        // One attempt to queue, and perhaps a few by the back-off; the releases, and the confirmations of the grants.
        assertThat(store.calls("evalsha")).as("attempts, renewals and releases").isLessThan(6L * locks);
    }

    @Test
    void aThousandWaitersOfThreeClientsAreServedInOrderAndEachReleaseWakesOne() {
        int waiters = 1_000;
        List<LockClient> three = List.of(client(), client(), client());
        LockLease holder = await(client().lock("orders").acquire());
        three.forEach(this::warmUp);
        grants.set(0);
        hints.set(0);
        store.redis().configResetstat();
        List<Integer> served = new CopyOnWriteArrayList<>();
        List<Long> tokens = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Integer>> results = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            int number = i;
            results.add(three.get(i % 3)
                    .lock("orders")
                    .withLock(lease -> Mono.fromCallable(() -> {
                        served.add(number);
                        tokens.add(lease.fencingToken());
                        return number;
                    }))
                    .toFuture());
            // The next one may come when this one is in the queue.
            while (Store.waiting(store.redis(), Store.holderKey("orders")) <= number) {
                LockSupport.parkNanos(50_000);
            }
        }
        assertThat(store.calls("publish")).isZero();

        await(holder.release());
        results.forEach(CompletableFuture::join);

        assertThat(served).hasSize(waiters).isSorted();
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertThat(tokens.get(0)).isGreaterThan(holder.fencingToken());
        // One message for each release that finds a waiter: the grant. And one for each client when others come to the
        // front of the queue, sixteen at a time, or one for a waiter that comes to its head.
        assertThat(store.calls("publish")).isLessThan(waiters + waiters / 4);
        assertThat(grants).hasValue(waiters);
        assertThat(hints).hasValue(0);
        // A place, a confirmation and a release for each waiter, the holder's release, and a few attempts of the
        // waiters at the head.
        assertThat(store.calls("evalsha")).isLessThan(3L * waiters + waiters / 10);
    }

    /** Returns how many places in queues were given: the locks have one waiter each. */
    private long joined() {
        return store.calls("zadd");
    }

    /** Waits longer: ten thousand round trips may take longer than one answer, on a machine that has other work. */
    private static <T> T inTime(Mono<T> all) {
        return all.toFuture().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    /** Waits once. */
    private void warmUp(LockClient client) {
        LockLease lease = await(client.lock("warm-up").acquire());
        CompletableFuture<Integer> waiter =
                client.lock("warm-up").withLock(Mono.just(1)).toFuture();
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("warm-up")) == 1);
        await(lease.release());
        waiter.join();
    }

    private LockClient client() {
        return client(attempts());
    }

    private LockClient client(AttemptsUnderWay backend) {
        LockClient client = LockClient.builder(backend)
                .options(OPTIONS)
                .operationTimeout(Duration.ofSeconds(30))
                .build();
        clients.add(client);
        return client;
    }

    private AttemptsUnderWay attempts() {
        return new AttemptsUnderWay(
                RedisLockBackend.builder(store.uri())
                        .claimTime(Duration.ofSeconds(30))
                        .build(),
                this::count);
    }

    private void count(WatchSignal signal) {
        if (signal instanceof WatchSignal.Granted) {
            grants.incrementAndGet();
        } else if (signal instanceof WatchSignal.Changed) {
            hints.incrementAndGet();
        }
    }
}
