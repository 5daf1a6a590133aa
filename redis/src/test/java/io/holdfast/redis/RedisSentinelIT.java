package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.testkit.server.RedisReplicas;
import io.holdfast.testkit.server.RedisSentinels;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.Disposables;

/** A real failover: the master fails, and sentinels promote its replica. */
class RedisSentinelIT {

    /** Longer than a failover, so that only the subject of a test ends a lease. */
    private static final Duration LEASE = Duration.ofSeconds(12);

    private RedisSentinels sentinels;
    private RedisServer master;
    private RedisServer replica;
    private LockClient client;
    private LockClient rival;

    @BeforeEach
    void start() {
        sentinels = RedisSentinels.start();
        master = sentinels.servers().get(0);
        replica = sentinels.servers().get(1);
        client = client();
        rival = client();
    }

    @AfterEach
    void stop() {
        await(client.close());
        await(rival.close());
        sentinels.close();
    }

    private LockClient client() {
        return client(RedisLockBackend.create(RedisURI.create(sentinels.uri())));
    }

    private static LockClient client(RedisLockBackend backend) {
        return LockClient.builder(backend)
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .operationTimeout(Duration.ofMillis(500))
                .build();
    }

    @Test
    void aHolderAndAWaiterOutliveAFailoverToAReplicaThatHasTheGrant() {
        LockLease held = await(client.lock("orders").acquire());
        CompletableFuture<LockLease> waiter = rival.lock("orders").acquire().toFuture();
        inReplica(store -> eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == 1));

        master.stop();
        sentinels.awaitMaster(replica);
        eventually(() -> renews(held));
        assertThat(waiter).isNotDone();
        await(held.release());

        LockLease next = waiter.join();
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        await(next.release());
    }

    @Test
    void aHolderWhoseGrantTheReplicaMissedLearnsOfItByItsNextRenewalAndTokensRise() {
        Store.answer(client.ping());
        Store.answer(rival.ping());
        Store atMaster = Store.observing(master);
        // The replica cannot come back: it does not know the password that the master requires from now on.
        assertThat(atMaster.redis().configSet("requirepass", "unknown")).isEqualTo("OK");
        assertThat(atMaster.redis().clientKill(KillArgs.Builder.typeSlave())).isPositive();
        LockLease held = await(client.lock("orders").acquire());
        CompletableFuture<LossReason> loss = held.onLoss().toFuture();

        master.stop();
        sentinels.awaitMaster(replica);
        LockLease next = await(rival.lock("orders").acquire());

        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        assertThat(loss).succeedsWithin(LEASE).isEqualTo(LossReason.NOT_HELD);
        assertThat(next.isValid()).isTrue();
        await(next.release());
        atMaster.stopObserving();
    }

    @Test
    void aConfirmedGrantOutlivesAFailoverAndTheNextIsConfirmedByReplicasOfTheNewMaster() {
        LockClient confirming = client(RedisLockBackend.builder(RedisURI.create(sentinels.uri()))
                .confirmGrants(1, Duration.ofMillis(200))
                .build());
        LockLease held = await(confirming.lock("orders").acquire());

        master.stop();
        sentinels.awaitMaster(replica);
        eventually(() -> renews(held));
        // Without a limit, failures are tolerated for a lease only.
        LockOptions patient = LockOptions.builder()
                .leaseDuration(LEASE)
                .waitTimeout(Duration.ofMinutes(1))
                .build();
        CompletableFuture<LockLease> waiter =
                confirming.lock("another").with(patient).acquire().toFuture();
        inReplica(store -> eventually(() -> store.keys().contains(Store.holderKey("another"))));
        assertThat(waiter).as("the new master has no replica yet").isNotDone();
        // Sentinels take ten seconds to make a replica of the old master.
        RedisReplicas another = RedisReplicas.of(replica, 1);

        LockLease next = waiter.join();
        assertThat(held.isValid()).isTrue();
        await(held.release());
        await(next.release());
        await(confirming.close());
        another.close();
    }

    @Test
    void aMasterThatHangsIsLeftForTheNewOne() {
        LockLease first = await(client.lock("orders").acquire());
        await(first.release());
        master.pause();
        try {
            sentinels.awaitMaster(replica);

            LockLease second = await(client.lock("orders").acquire());

            assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
            inReplica(store -> assertThat(store.keys()).contains(Store.holderKey("orders")));
            await(second.release());
        } finally {
            master.resume();
        }
    }

    /** As with one server: see VanishedClientsIT. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void waitersOfAClientThatVanishesCostTheNextOneTwoClaimTimes(LockKind kind) {
        Duration claimTime = Duration.ofMillis(500);
        RedisLockBackend.Builder builder =
                RedisLockBackend.builder(RedisURI.create(sentinels.uri())).claimTime(claimTime);
        LockClient living = client(builder.build());
        RedisLockBackend vanishing = builder.build();
        Disposable.Composite watches = Disposables.composite();
        LockLease holder = await(WaitingProcess.lock(living, kind, "orders").acquire());
        for (int i = 0; i < 20; i++) {
            // After this attempt it sends nothing, and confirms no grant.
            LockClaim claim = Store.claim(LockKey.of(kind, "orders"), Waiting.QUEUE);
            watches.add(vanishing.watch(claim).subscribe());
            assertThat(await(vanishing.tryAcquire(claim))).isInstanceOf(LockAttempt.Queued.class);
        }
        Store atMaster = Store.observing(master);
        CompletableFuture<LockLease> next =
                WaitingProcess.lock(living, kind, "orders").acquire().toFuture();
        String key = Store.holderKey(LockKey.of(kind, "orders"));
        eventually(() -> Store.waiting(atMaster.redis(), key) == 21);
        eventually(() -> atMaster.redis().pubsubChannels("holdfast*").size() == 2);

        long released = System.nanoTime();
        await(holder.release());

        LockLease lease = next.orTimeout(30, TimeUnit.SECONDS).join();
        assertThat(Duration.ofNanos(System.nanoTime() - released))
                .as("two claim times, on a busy machine")
                .isLessThan(claimTime.multipliedBy(2).plusSeconds(3));
        await(lease.release());
        watches.dispose();
        Store.end(vanishing);
        await(living.close());
        atMaster.stopObserving();
    }

    @Test
    void aMasterNameThatTheSentinelsDoNotKnowIsAnErrorThatSaysSo() {
        RedisURI uri = RedisURI.create(sentinels.uri().replace(RedisSentinels.MASTER_NAME, "another"));
        RedisLockBackend lost = RedisLockBackend.create(uri);
        LockBackendException failure = catchThrowableOfType(
                LockBackendException.class, () -> Store.answer(lost.tryAcquire(Store.claim("orders"))));
        assertThat(failure).hasMessageContaining("'another'").hasMessageContaining("sentinelMasterId");
        assertThat(failure.isTransient()).isFalse();
        Store.end(lost);
    }

    private void inReplica(Consumer<Store> check) {
        Store store = Store.observing(replica);
        check.accept(store);
        store.stopObserving();
    }

    private static boolean renews(LockLease lease) {
        try {
            List<Object> nothing = await(lease.renew().cast(Object.class).flux().collectList());
            return nothing.isEmpty();
        } catch (LockBackendException notYet) {
            return false;
        }
    }
}
