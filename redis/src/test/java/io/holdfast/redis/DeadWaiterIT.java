package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** The delay that a killed or hung process, as a waiter, causes for the waiters behind it. Real processes. */
class DeadWaiterIT {

    /** Additional time for a machine that is busy. */
    private static final Duration SLACK = Duration.ofSeconds(4);

    /** The delay that even one waiter would cost if it was not passed over at once. */
    private static final Duration LONG_CLAIM_TIME = Duration.ofSeconds(20);

    private Store store;
    private LockKind kind = LockKind.MUTEX;
    private final List<LockClient> clients = new ArrayList<>();

    @BeforeEach
    void start() {
        store = Store.start();
    }

    @AfterEach
    void stop() {
        clients.forEach(client -> await(client.close()));
        store.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 300})
    void waitersOfAKilledProcessDelayNoOtherWaiter(int dead) {
        LockClient client = client(LONG_CLAIM_TIME);
        LockLease holder = await(lock(client).acquire());
        try (WaitingProcess dying = WaitingProcess.start(store.uri(), kind, "orders", dead, LONG_CLAIM_TIME)) {
            waiting(dead);
            CompletableFuture<LockLease> next = lock(client).acquire().toFuture();
            waiting(dead + 1);
            heard(2);
            dying.kill();
            heard(1);
            store.redis().configResetstat();

            Duration delay = delayOf(holder, next);

            System.out.printf("[holdfast] behind %d killed waiters: %d ms%n", dead, delay.toMillis());
            assertThat(delay).isLessThan(SLACK);
            // However many they are: one message without a receiver for all of them, and the grant to the next waiter.
            // A dead waiter that came within the last second stays in the queue: its channel may not be open yet. As
            // the first waiter of another client it gets a message, and one more when the next waiter releases.
            assertThat(store.calls("publish")).isLessThanOrEqualTo(4);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {500, 1_000})
    void aWaiterThatHangsDelaysTheNextOneByTwoClaimTimesAtMost(long claimMillis) {
        Duration claimTime = Duration.ofMillis(claimMillis);
        LockClient client = client(claimTime);
        LockLease holder = await(lock(client).acquire());
        try (WaitingProcess hanging = WaitingProcess.start(store.uri(), kind, "orders", 1, claimTime)) {
            waiting(1);
            CompletableFuture<LockLease> next = lock(client).acquire().toFuture();
            waiting(2);
            heard(2);
            hanging.freeze();
            waiting(2); // the server has read what the process sent before

            assertThat(delayOf(holder, next))
                    .isLessThan(claimTime.multipliedBy(2).plus(SLACK));
        }
    }

    /** The waiters behind it have come to the head since their last attempt, when their turn was far away. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void aWaiterThatHangsInTheMiddleOfAQueueDelaysTheNextOneByTwoClaimTimesAtMost(LockKind exclusive) {
        kind = exclusive;
        Duration claimTime = Duration.ofMillis(500);
        LockClient client = client(claimTime);
        LockLease holder = await(lock(client).acquire());
        List<CompletableFuture<Integer>> before = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            before.add(lock(client).withLock(Mono.just(i)).toFuture());
        }
        waiting(5);
        try (WaitingProcess hanging = WaitingProcess.start(store.uri(), kind, "orders", 1, claimTime)) {
            waiting(6);
            CompletableFuture<LockLease> next = lock(client).acquire().toFuture();
            waiting(7);
            heard(2);
            hanging.freeze();
            waiting(7); // the server has read what the process sent before

            Duration delay = delayOf(holder, next);

            System.out.printf("[holdfast] behind a hung waiter in the middle: %d ms%n", delay.toMillis());
            assertThat(before).allMatch(CompletableFuture::isDone);
            assertThat(delay).isLessThan(claimTime.multipliedBy(2).plus(SLACK));
        }
    }

    private static Duration delayOf(LockLease holder, CompletableFuture<LockLease> next) {
        long released = System.nanoTime();
        await(holder.release());
        LockLease lease = next.join();
        Duration delay = Duration.ofNanos(System.nanoTime() - released);
        assertThat(lease.fencingToken()).isGreaterThan(holder.fencingToken());
        await(lease.release());
        return delay;
    }

    private void waiting(int count) {
        ClientOverRedis.eventually(
                () -> Store.waiting(store.redis(), Store.holderKey(LockKey.of(kind, "orders"))) == count);
    }

    private ReactiveLock lock(LockClient client) {
        return WaitingProcess.lock(client, kind, "orders");
    }

    /** Waits until this many clients listen. */
    private void heard(int channels) {
        ClientOverRedis.eventually(() -> store.redis().pubsubChannels().size() == channels);
    }

    private LockClient client(Duration claimTime) {
        LockClient client = LockClient.create(
                RedisLockBackend.builder(store.uri()).claimTime(claimTime).build());
        clients.add(client);
        return client;
    }
}
