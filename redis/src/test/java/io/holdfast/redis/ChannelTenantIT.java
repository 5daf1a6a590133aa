package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static io.holdfast.redis.ClientOverRedis.pause;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.server.TcpProxy;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A tenant of the same server has rights to all channels and to no key: it sees each grant, and may publish any
 * message.
 */
class ChannelTenantIT {

    private static final String RIGHTS = "on nopass resetkeys allchannels -@all +subscribe +psubscribe +publish";

    /** Longer than the test takes: no lease may end here. */
    private static final Duration LEASE = Duration.ofMinutes(1);

    @RegisterExtension
    final ClientOverRedis clients = new ClientOverRedis(options -> options.leaseDuration(LEASE));

    private record Published(String channel, String text) {}

    private final List<Published> seen = new CopyOnWriteArrayList<>();
    private RedisClient driver;
    private StatefulRedisPubSubConnection<String, String> tenant;

    @BeforeEach
    void start() {
        clients.store.user("tenant", RIGHTS);
        RedisURI uri = clients.store.uri();
        uri.setCredentialsProvider(RedisCredentialsProvider.from(() -> RedisCredentials.just("tenant", "any")));
        driver = RedisClient.create(uri);
        driver.setOptions(
                ClientOptions.builder().pingBeforeActivateConnection(false).build());
        tenant = driver.connectPubSub();
        tenant.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String pattern, String channel, String text) {
                seen.add(new Published(channel, text));
            }
        });
        tenant.sync().psubscribe("*");
    }

    @AfterEach
    void stop() {
        tenant.close();
        driver.shutdown(0, 2, TimeUnit.SECONDS);
    }

    @Test
    void theTenantMayTouchNoKey() {
        assertThatThrownBy(() -> tenant.sync().get("holdfast:x")).isInstanceOf(RedisCommandExecutionException.class);
    }

    @ParameterizedTest
    @EnumSource(names = {"MUTEX", "WRITE", "SEMAPHORE"})
    void repeatedGrantOnAnyChannelEndsNoLease(LockKind kind) {
        LockKey key =
                kind == LockKind.SEMAPHORE ? new LockKey(LockKind.SEMAPHORE, "orders", 1) : LockKey.of(kind, "orders");
        openChannelOf("rival", clients.rival);
        LockLease first = await(lock(clients.newClient(), key).acquire());
        CompletableFuture<LockLease> waiter = waiter(clients.client, key);
        await(first.release());
        LockLease victim = waiter.join();
        Published grant = grant();

        repeatEverywhere(grant.text());
        settle();

        assertThat(clients.store.keys()).contains(Store.holderKey(key));
        await(victim.renew());
        assertThat(victim.isValid()).isTrue();
        assertThat(await(lock(clients.rival, key).tryAcquire().hasElement()))
                .as("a second holder")
                .isFalse();
        await(victim.release());
        repeatEverywhere(grant.text());
        LockLease later = await(lock(clients.rival, key).acquire());
        repeatEverywhere(grant.text());
        settle();
        await(later.renew());
        await(later.release());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"1 2000", "9223372036854775807 2000", "7 9223372036854775807", "7 -5", "9007199254740991 60000"})
    void forgedGrantIsNotBelieved(String tokenAndMillis) {
        LockKey key = LockKey.of(LockKind.MUTEX, "orders");
        LockLease held = await(clients.rival.lock("orders").acquire());
        CompletableFuture<LockLease> waiter = waiter(clients.client, key);
        String id = headOfQueue(key);
        String[] parts = tokenAndMillis.split(" ", -1);

        for (String mac : new String[] {"", "0".repeat(40) + ' '}) {
            IntStream.range(1, 4)
                    .forEach(attempt -> repeatEverywhere("G " + mac + parts[0] + ' ' + attempt + ' ' + parts[1] + ' '
                            + id.length() + ' ' + id + ' ' + Store.holderKey(key)));
        }
        settle();

        assertThat(waiter).as("a waiter of a held lock").isNotDone();
        await(held.release());
        LockLease lease = waiter.join();
        assertThat(lease.fencingToken())
                .as("the server's own grant")
                .isGreaterThan(held.fencingToken())
                .isLessThan(1L << 53);
        await(lease.release());
    }

    @Test
    void tamperedGrantIsBelievedByNoClient() {
        LockKey key = LockKey.of(LockKind.MUTEX, "orders");
        Published grant = grantOf(key);
        LockLease held = await(clients.rival.lock("orders").acquire());
        CompletableFuture<LockLease> waiter = waiter(clients.client, key);
        String id = headOfQueue(key);
        String[] words = grant.text().split(" ", -1);
        String formerId = words[words.length - 2];

        repeatEverywhere(grant.text().replace(formerId, id));
        repeatEverywhere(grant.text().replace(" 1 ", " 2 "));
        repeatEverywhere(grant.text().replace("{orders}", "{others}"));
        settle();

        assertThat(waiter).isNotDone();
        await(held.release());
        await(waiter.join().release());
    }

    @Test
    void grantOnBystandersChannelsTakesNoPlaceInTheQueue() {
        LockKey key = LockKey.of(LockKind.MUTEX, "orders");
        openChannelOf("rival", clients.rival);
        LockLease held = await(clients.newClient().lock("orders").acquire());
        CompletableFuture<LockLease> waiter = waiter(clients.client, key);
        String id = headOfQueue(key);

        repeatEverywhere("G 5 1 2000 " + id.length() + ' ' + id + ' ' + Store.holderKey(key));
        settle();

        assertThat(Store.waiters(clients.store.redis(), Store.holderKey(key))).containsExactly(id);
        await(held.release());
        await(waiter.join().release());
    }

    @Test
    void grantOfAnotherPrefixMakesNoClientSendAScript() {
        Published grant = grantOf(LockKey.of(LockKind.MUTEX, "orders"));
        clients.eventuallyIdle();
        clients.store.redis().configResetstat();

        repeatEverywhere(grant.text().replace("holdfast:", "others:"));
        repeatEverywhere("G 5 1 2000 2 id others:{orders}:mutex");
        repeatEverywhere("G 5 1 2000 2 id holdfast:{others}:mutex");
        settle();

        assertThat(clients.store.calls("evalsha") + clients.store.calls("eval")).isZero();
    }

    @Test
    void hintsOfStrangersNeitherRenewNorEndAHeldLease() {
        LockKey key = LockKey.of(LockKind.MUTEX, "orders");
        LockLease held = await(clients.rival.lock("orders").acquire());
        LockOptions byHand =
                LockOptions.builder().leaseDuration(LEASE).autoRenew(false).build();
        CompletableFuture<LockLease> waiter =
                clients.client.lock("orders").with(byHand).acquire().toFuture();
        eventuallyOneWaits(key);
        String id = headOfQueue(key);
        await(held.release());
        LockLease lease = waiter.join();
        await(lease.renew());
        noMoreScripts(); // the grant is confirmed
        clients.store.redis().configResetstat();

        for (String text :
                new String[] {"C " + id, "L " + id, "L x 1 " + id.length() + " " + id + " " + Store.holderKey(key), "B"
                }) {
            repeatEverywhere(text);
        }
        settle();

        assertThat(clients.store.calls("evalsha")).as("renewals").isZero();
        assertThat(lease.isValid()).isTrue();
        await(lease.release());
    }

    @Test
    void floodOfHintsCostsFewAttemptsAndTheHandOffGoesOn() {
        LockKey key = LockKey.of(LockKind.MUTEX, "orders");
        LockLease held = await(clients.rival.lock("orders").acquire());
        CompletableFuture<LockLease> waiter = waiter(clients.client, key);
        String id = headOfQueue(key);
        clients.store.redis().configResetstat();
        long begin = System.nanoTime();

        for (int sent = 0; sent < 500 || System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(2); sent++) {
            repeatEverywhere("C " + id);
        }

        assertThat(clients.store.calls("publish")).isGreaterThanOrEqualTo(500);
        double seconds = (System.nanoTime() - begin) / 1e9;
        assertThat((double) clients.store.calls("evalsha")).as("attempts").isLessThan(105 * seconds + 5);
        await(held.release());
        await(waiter.join().release());
    }

    /**
     * The waiter's channel accepts messages and passes none on: only the tenant sees the grant, which ends with its
     * claim time.
     */
    @Test
    void grantThatItsClientMissedIsWorthNothingWhenItIsRepeatedAfterItsTime() {
        try (TcpProxy proxy = TcpProxy.inFrontOf(clients.store.server)) {
            LockClient cutOff = LockClient.builder(RedisLockBackend.builder(RedisURI.create(proxy.host(), proxy.port()))
                            .claimTime(Duration.ofMillis(300))
                            .build())
                    .options(LockOptions.builder().leaseDuration(LEASE).build())
                    .build();
            LockKey key = LockKey.of(LockKind.MUTEX, "orders");
            clients.claimTime(Duration.ofMillis(300));
            LockLease held = await(clients.rival.lock("orders").acquire());
            CompletableFuture<LockLease> waiter = waiter(cutOff, key);
            proxy.drop(TcpProxy.Direction.values()); // its attempts do not arrive either
            await(held.release());
            Published grant = grant();
            LockLease next = await(clients.client.lock("orders").acquire());
            pause(Duration.ofMillis(300));
            proxy.pass();
            proxy.cut();
            eventuallyOneWaits(key);

            IntStream.range(0, 50).forEach(i -> {
                repeatEverywhere(grant.text());
                pause(Duration.ofMillis(10));
            });

            assertThat(waiter).as("a second holder").isNotDone();
            await(next.renew());
            await(next.release());
            await(waiter.join().release());
            await(cutOff.close());
        }
    }

    /** Returns a grant to a client that has released it since. */
    private Published grantOf(LockKey key) {
        LockLease first = await(lock(clients.rival, key).acquire());
        CompletableFuture<LockLease> second = waiter(clients.client, key);
        await(first.release());
        await(second.join().release());
        return grant();
    }

    private static ReactiveLock lock(LockClient by, LockKey key) {
        return switch (key.kind()) {
            case MUTEX -> by.lock(key.name());
            case READ -> by.readWriteLock(key.name()).readLock();
            case WRITE -> by.readWriteLock(key.name()).writeLock();
            case SEMAPHORE -> by.semaphore(key.name(), key.permits());
        };
    }

    /** Opens the channel of a client: a client has one from its first wait on. */
    private void openChannelOf(String name, LockClient client) {
        LockLease held = await(clients.newClient().lock(name).acquire());
        CompletableFuture<LockLease> waiter = waiter(client, LockKey.of(LockKind.MUTEX, name));
        await(held.release());
        await(waiter.join().release());
        seen.clear();
    }

    /** Returns the only waiter in the queue; its channel is up, and it has sent an attempt since. */
    private CompletableFuture<LockLease> waiter(LockClient by, LockKey key) {
        CompletableFuture<LockLease> waiter = lock(by, key).acquire().toFuture();
        eventuallyOneWaits(key);
        return waiter;
    }

    private String headOfQueue(LockKey key) {
        return Store.waiters(clients.store.redis(), Store.holderKey(key)).get(0);
    }

    private void eventuallyOneWaits(LockKey key) {
        String queue = Store.holderKey(key);
        eventually(() -> clients.store.redis().hvals(Store.entries(queue)).stream()
                        .filter(entry -> entry.matches("(?:\\w+ \\d+ )?[2-9] .*|.* [2-9] \\d+ \\d+"))
                        .filter(entry -> channels().anyMatch(entry::contains))
                        .count()
                == 1);
    }

    private Published grant() {
        eventually(() -> seen.stream().anyMatch(it -> it.text().startsWith("G ")));
        return seen.stream()
                .filter(it -> it.text().startsWith("G "))
                .findFirst()
                .orElseThrow();
    }

    private Stream<String> channels() {
        return clients.store.redis().pubsubChannels().stream();
    }

    private void repeatEverywhere(String text) {
        channels()
                .forEach(channel ->
                        assertThat(tenant.sync().publish(channel, text)).isPositive());
    }

    private void noMoreScripts() {
        eventually(() -> {
            long before = clients.store.calls("evalsha");
            settle();
            return clients.store.calls("evalsha") == before;
        });
    }

    /** Waits until a published message was received and answered, which takes less than this time. */
    private static void settle() {
        pause(Duration.ofMillis(300));
    }
}
