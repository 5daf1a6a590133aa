package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static io.holdfast.redis.ClientOverRedis.pause;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** The server signals a holder when its key is gone. */
class RedisLossByPushIT {

    private static final Duration LEASE = Duration.ofSeconds(30);

    /** Half of the renewal period: without a push the holder would not notice the loss by then. */
    private static final Duration AT_ONCE = LEASE.dividedBy(6);

    private Store store;
    private RedisLockBackend backend;
    private LockClient client;

    @BeforeEach
    void start() {
        store = Store.start();
        backend = pushed();
        client = LockClient.builder(backend)
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .listener(event -> {}) // instead of a line in the log for each of many losses
                .build();
    }

    private RedisLockBackend pushed() {
        return RedisLockBackend.builder(store.uri()).lossByPush(true).build();
    }

    @AfterEach
    void stop() {
        await(client.close());
        store.close();
    }

    @Test
    void trackingThatIsNotAnsweredOnOneConnectionIsTriedOnAnother() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        try (FakeServer mute = FakeServer.answering(command -> switch (command) {
            case "hello" -> FakeServer.HELLO;
            case "ping" -> asked.get() == 3 || asked.get() == 4 ? null : "+PONG";
            case "info" -> "-NOPERM no";
            // The driver sends its name and version with the first two; tracking and caching are next.
            case "client" -> asked.incrementAndGet() == 3 || asked.get() == 4 ? null : "+OK";
            case "evalsha" -> "*3\r\n:1\r\n:7\r\n:30000";
            case "eval" -> "*1\r\n:1";
            default -> "+OK";
        })) {
            RedisLockBackend patient = RedisLockBackend.builder(RedisURI.create("127.0.0.1", mute.port()))
                    .lossByPush(true)
                    .build();
            assertThatThrownBy(() -> Store.answer(patient.tryAcquire(Store.claim("orders"))))
                    .isInstanceOf(LockBackendException.class);
            // An attempt that comes while the first connection is being given up shares its failure.
            LockAttempt refused = new LockAttempt.Contended(Duration.ofMillis(1));
            eventually(() -> Store.answer(patient.tryAcquire(Store.claim("orders"))
                            .onErrorReturn(LockBackendException.class, refused))
                    instanceof LockAttempt.Acquired);
            Store.end(patient);
        }
    }

    private LockLease acquired(String name) {
        long before = info("stats", "tracking_total_keys");
        LockLease lease = await(client.lock(name).acquire());
        eventually(() -> info("stats", "tracking_total_keys") == before + 1);
        return lease;
    }

    private long info(String section, String field) {
        Matcher line = Pattern.compile(field + ":(\\d+)").matcher(store.redis().info(section));
        return line.find() ? Long.parseLong(line.group(1)) : 0;
    }

    private void assertLostAtOnce(LockLease lease, Runnable accident) {
        CompletableFuture<LossReason> loss = lease.onLoss().toFuture();
        accident.run();
        assertThat(loss).succeedsWithin(AT_ONCE).isEqualTo(LossReason.NOT_HELD);
    }

    @Test
    void aDeletedKeyIsSignalledAtOnce() {
        String key = Store.holderKey("orders");
        assertLostAtOnce(
                acquired("orders"), () -> assertThat(store.redis().del(key)).isEqualTo(1));
    }

    @Test
    void aDeletedKeyOfATriedLockIsSignalledAtOnce() {
        LockLease lease = await(client.lock("orders").tryAcquire());
        eventually(() -> info("stats", "tracking_total_keys") == 1);
        assertLostAtOnce(
                lease,
                () -> assertThat(store.redis().del(Store.holderKey("orders"))).isEqualTo(1));
    }

    @Test
    void aDeletedKeyOfAnAdoptedLockIsSignalledAtOnce() {
        LockClient exporter = LockClient.builder(RedisLockBackend.create(store.uri()))
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .build();
        String text = await(await(exporter.lock("orders").acquire()).export());
        LockLease lease = await(client.adopt(text));
        eventually(() -> info("stats", "tracking_total_keys") == 1);
        assertLostAtOnce(
                lease,
                () -> assertThat(store.redis().del(Store.holderKey("orders"))).isEqualTo(1));
        await(exporter.close());
    }

    @Test
    void aKeyThatAnotherClientTookIsSignalledAtOnce() {
        String key = Store.holderKey("orders");
        assertLostAtOnce(
                acquired("orders"),
                () -> assertThat(store.redis().set(key, "theirs")).isEqualTo("OK"));
        assertThat(store.redis().del(key)).isEqualTo(1);
    }

    @Test
    void aFlushIsSignalledAtOnce() {
        assertLostAtOnce(
                acquired("orders"), () -> assertThat(store.redis().flushall()).isEqualTo("OK"));
    }

    @Test
    void anExpiryIsSignalledAtOnce() {
        String key = Store.holderKey("orders");
        LockLease lease = acquired("orders");
        // PEXPIRE is a change as well: the client verifies it and sets the expiry anew. So the key must be gone before
        // that.
        assertLostAtOnce(lease, () -> assertThat(store.redis().pexpire(key, 0)).isTrue());
    }

    @Test
    void aShortenedExpiryIsSetAnew() {
        LockLease lease = acquired("orders");
        String key = Store.holderKey("orders");
        assertThat(store.redis().pexpire(key, LEASE.toMillis() / 2)).isTrue();
        eventually(() -> store.redis().pttl(key) > LEASE.toMillis() * 3 / 4);
        assertThat(lease.isValid()).isTrue();
        await(lease.release());
    }

    @Test
    void anEvictionIsSignalledAtOnce() {
        LockLease lease = acquired("orders");
        assertThat(store.redis().configSet("maxmemory-policy", "allkeys-random"))
                .isEqualTo("OK");
        assertLostAtOnce(lease, () -> {
            assertThat(store.redis().configSet("maxmemory", "1")).isEqualTo("OK");
            eventually(() -> info("stats", "evicted_keys") > 0 && !store.isHeld(Store.holderKey("orders")));
            assertThat(store.redis().configSet("maxmemory", "0")).isEqualTo("OK");
        });
    }

    @Test
    void aRestartIsSignalledWhenTheServerIsBack() {
        LockLease lease = acquired("orders");
        assertLostAtOnce(lease, store.server::restart);
    }

    @Test
    void aPushedGrantIsWatchedToo() {
        LockLease holder = acquired("orders");
        CompletableFuture<LockLease> waiting = client.lock("orders").acquire().toFuture();
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == 1);
        await(holder.release());
        LockLease next = waiting.join();
        eventually(() -> info("stats", "tracking_total_keys") == 1);
        assertLostAtOnce(
                next,
                () -> assertThat(store.redis().del(Store.holderKey("orders"))).isEqualTo(1));
    }

    @Test
    void aLostConnectionIsVerifiedAndWatchedAgain() {
        LockLease lease = acquired("orders");
        store.redis().configResetstat();
        assertThat(store.redis().clientKill(KillArgs.Builder.typePubsub())).isPositive();
        eventually(() -> store.calls("eval") == 1 && info("stats", "tracking_total_keys") == 1);
        assertThat(store.calls("evalsha") + store.calls("pexpire"))
                .as("renewals")
                .isZero();
        assertThat(lease.isValid()).isTrue();
        assertLostAtOnce(
                lease,
                () -> assertThat(store.redis().del(Store.holderKey("orders"))).isEqualTo(1));
    }

    @Test
    void ownRenewalsAndReleasesAreNotSignalled() {
        LockLease lease = acquired("orders");
        store.redis().configResetstat();
        for (int i = 0; i < 10; i++) {
            await(lease.renew());
        }
        await(lease.release());
        pause(AT_ONCE.dividedBy(5));
        assertThat(store.calls("evalsha")).as("10 renewals and a release").isEqualTo(11);
        assertThat(info("stats", "tracking_total_keys")).isZero();
    }

    @Test
    void aGrantCostsTwoCommandsThatNoCallerWaitsFor() {
        String name = "orders";
        LockLease other = acquired("another");
        await(acquired("first").release()); // the server knows the scripts
        store.redis().configResetstat();
        for (int i = 0; i < 20; i++) {
            LockClaim claim = Store.claim(name);
            assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
            eventually(() -> info("stats", "tracking_total_keys") == 2);
            assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        }
        assertThat(store.calls("evalsha")).isEqualTo(40);
        assertThat(store.calls("client") + store.calls("client\\|caching")).isEqualTo(20);
        assertThat(store.calls("eval")).isEqualTo(20);
        await(other.release());
    }

    @Test
    void nothingIsSentWhenItIsOff() {
        RedisLockBackend plain = store.backend();
        LockClaim claim = Store.claim("orders");
        Store.answer(plain.tryAcquire(claim));
        assertThat(info("clients", "tracking_clients")).isZero();
        Store.answer(plain.renew(claim));
        store.redis().configResetstat();
        Store.answer(plain.renew(claim));
        assertThat(store.calls("client") + store.calls("client\\|caching")).isZero();
        assertThat(store.calls("eval")).isZero();
        Store.answer(plain.release(claim));
        Store.end(plain);
    }

    /** The server does not signal this client's own changes, and they end the watch of the key. */
    @Test
    void aLossIsSignalledAtOnceAlsoWhenThisClientWaitsForTheSameLock() {
        LockLease lease = acquired("orders");
        CompletableFuture<LockLease> waiting = client.lock("orders").acquire().toFuture();
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == 1);
        eventually(() -> info("stats", "tracking_total_keys") == 1);

        assertLostAtOnce(
                lease,
                () -> assertThat(store.redis().set(Store.holderKey("orders"), "theirs"))
                        .isEqualTo("OK"));
        waiting.cancel(true);
        assertThat(store.redis().del(Store.holderKey("orders"))).isEqualTo(1);
    }

    /** The tombstone of a withdrawn claim is such a change too. */
    @Test
    void aLossIsSignalledAtOnceAlsoWhenThisClientHasWithdrawnAClaim() {
        LockLease lease = acquired("orders");
        Store.answer(backend.release(Store.claim("orders")));
        eventually(() -> info("stats", "tracking_total_keys") == 1);

        assertLostAtOnce(
                lease,
                () -> assertThat(store.redis().set(Store.holderKey("orders"), "theirs"))
                        .isEqualTo("OK"));
        assertThat(store.redis().del(Store.holderKey("orders"))).isEqualTo(1);
    }

    @Test
    void aClientThatOnlyWaitsGetsNoSignal() {
        LockLease holder = acquired("orders");
        RedisLockBackend rival = pushed();
        LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        Disposable watch = rival.watch(waiter).subscribe(signals::add);
        assertThat(Store.answer(rival.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(info("clients", "tracking_clients")).isEqualTo(2);
        // The holder's client watches one key; again, when the first waiter has set the flag in the record.
        eventually(() -> info("stats", "tracking_total_items") == 1);
        watch.dispose();
        Store.answer(rival.release(waiter));
        Store.end(rival);
        await(holder.release());
    }

    @Test
    void manyAcquisitionsLeaveNothingInTheServersTable() {
        for (int i = 0; i < 200; i++) {
            await(await(client.lock("lock-" + i).acquire()).release());
        }
        eventually(() -> client.toString().contains("0 held, 0 releasing"));
        assertThat(info("stats", "tracking_total_keys")).isZero();
        assertThat(backend.operations().watchedKeys()).isZero();
    }

    @Test
    void aFlushIsVerifiedInBatches() {
        int locks = 2_000;
        List<LockLease> leases = Store.answer(Flux.range(0, locks)
                .flatMap(i -> client.lock("lock-" + i).acquire(), locks)
                .collectList());
        eventually(() -> info("stats", "tracking_total_keys") == locks);
        List<CompletableFuture<LossReason>> losses =
                leases.stream().map(lease -> lease.onLoss().toFuture()).toList();
        store.redis().configResetstat();
        long flushed = System.nanoTime();
        assertThat(store.redis().flushall()).isEqualTo("OK");
        CompletableFuture.allOf(losses.toArray(CompletableFuture[]::new)).join();
        long micros = (System.nanoTime() - flushed) / 1000;
        System.out.println("[holdfast] a flush of " + locks + " held locks was signalled and verified with "
                + store.calls("evalsha") + " commands in " + micros + " us");
        // The number of keys in a batch depends on how fast the client reads the messages.
        assertThat(store.calls("evalsha")).isLessThan(locks / 4);
    }

    @Test
    void aTableThatIsTooSmallCostsTenVerificationsInALeaseAtMost() {
        assertThat(store.redis().configSet("tracking-table-max-keys", "1")).isEqualTo("OK");
        store.redis().configResetstat();
        List<LockLease> leases = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            leases.add(await(client.lock("lock-" + i).acquire()));
        }
        pause(LEASE.dividedBy(10));
        long verifications = store.calls("evalsha") + store.calls("eval") - 10;
        System.out.println("[holdfast] 10 locks, room for 1 in the server's table: " + verifications
                + " verifications in a tenth of the lease");
        // The server signalled each key once before its pause, and perhaps once after it.
        assertThat(verifications).isPositive().isLessThanOrEqualTo(20);
        assertThat(leases).allMatch(LockLease::isValid);
    }

    @Test
    void readersAreNotWatched() {
        LockLease reader = await(client.readWriteLock("orders").readLock().acquire());
        LockLease another = await(client.readWriteLock("orders").readLock().acquire());
        await(reader.renew());
        assertThat(info("stats", "tracking_total_keys")).isZero();
        await(reader.release());
        await(another.release());
    }

    @Test
    void theDocumentedPermissionsAreNeededAndEnough() {
        store.user("locker", RedisErrorsIT.DOCUMENTED_ACL + " +client|tracking");
        LockBackendException failure = catchThrowableOfType(LockBackendException.class, () -> acquireAs("locker"));
        assertThat(failure).hasMessageContaining("the ACL forbids it");
        assertThat(failure.isTransient()).isFalse();
        store.user("watcher", RedisErrorsIT.DOCUMENTED_ACL + " +client|tracking +client|caching");
        acquireAs("watcher");
    }

    private void acquireAs(String user) {
        RedisURI uri = RedisURI.builder(store.uri())
                .withAuthentication(user, "unused".toCharArray())
                .build();
        RedisLockBackend restricted =
                RedisLockBackend.builder(uri).lossByPush(true).build();
        try {
            LockClaim claim = Store.claim("restricted");
            assertThat(Store.answer(restricted.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
            assertThat(Store.answer(restricted.renew(claim))).isInstanceOf(Renewal.Held.class);
            eventually(() -> info("stats", "tracking_total_keys") == 1);
            assertThat(Store.answer(restricted.release(claim))).isEqualTo(Ownership.HELD);
        } finally {
            Store.end(restricted);
        }
    }
}
