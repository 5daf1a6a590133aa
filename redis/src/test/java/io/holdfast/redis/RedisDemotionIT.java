package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.server.RedisReplicas;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A master becomes a replica while connections to it are open, and its name leads to another server by then, or a while
 * later.
 */
class RedisDemotionIT {

    /** A holder renews after a third of it, and a waiter sends an attempt after a third of it. */
    private static final Duration LEASE = Duration.ofSeconds(6);

    /** No waiter sends an attempt and no holder renews by the clock during a test. */
    private static final LockOptions LONG =
            LockOptions.builder().leaseDuration(Duration.ofMinutes(5)).build();

    private static final Duration LONG_CLAIM_TIME = Duration.ofMinutes(1);

    private final List<LockEvent> events = new CopyOnWriteArrayList<>();
    private RedisReplicas servers;
    private RedisServer former;
    private RedisServer next;
    private Store atFormer;
    private Store atNext;
    private MovingName name;
    private LockClient client;
    private LockClient rival;

    @BeforeEach
    void start() {
        servers = RedisReplicas.start(1);
        former = servers.master();
        next = servers.replicas().get(0);
        atFormer = Store.observing(former);
        atNext = Store.observing(next);
        name = MovingName.of(former);
        client = client(builder -> builder);
        rival = client(builder -> builder);
    }

    private LockClient client(UnaryOperator<RedisLockBackend.Builder> settings) {
        return LockClient.builder(settings.apply(name.backend()).build())
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .operationTimeout(Duration.ofSeconds(1))
                .listener(events::add)
                .build();
    }

    @AfterEach
    void stop() {
        await(client.close());
        await(rival.close());
        name.close();
        atFormer.stopObserving();
        atNext.stopObserving();
        servers.close();
    }

    @Test
    void aReplicatedLeaseGoesOnAtTheNewMaster() {
        LockLease held = await(client.lock("orders").acquire());
        replicated();

        swapRoles();
        name.moveTo(next);

        eventually(this::isRenewedAtTheNewMaster);
        assertThat(held.isValid()).isTrue();
        await(held.release());
        assertThat(atNext.isHeld(Store.holderKey("orders"))).isFalse();
        assertThat(lost()).isEmpty();
    }

    @Test
    void aWaiterIsServedByTheNewMaster() {
        LockLease held = await(rival.lock("orders").acquire());
        CompletableFuture<LockLease> waiter = replicatedWaiter(client.lock("orders"));

        swapRoles();
        name.moveTo(next);
        await(held.release());

        assertThat(waiter).succeedsWithin(LEASE).satisfies(lease -> {
            assertThat(lease.fencingToken()).isGreaterThan(held.fencingToken());
            assertThat(atNext.keys()).contains(Store.holderKey("orders"));
            await(lease.release());
        });
        assertThat(lost()).isEmpty();
    }

    /** The channel brings the grant, so it has to be at the new master as well. */
    @Test
    void aWaiterThatTheNewMasterKnowsIsServedAtOnce() {
        LockClient patient = client(builder -> builder.claimTime(LONG_CLAIM_TIME));
        LockLease held = await(rival.lock("orders").with(LONG).acquire());
        CompletableFuture<LockLease> waiter =
                replicatedWaiter(patient.lock("orders").with(LONG));

        swapRoles();
        name.moveTo(next);
        await(await(patient.lock("another").acquire()).release()); // the client learns of the demotion by this
        eventually(() -> atNext.redis().pubsubChannels().size() == 1);
        eventually(() -> renews(held));
        await(held.release());

        assertThat(waiter).as("long before its own next attempt").succeedsWithin(LONG_CLAIM_TIME.dividedBy(6));
        await(waiter.join().release());
        await(patient.close());
    }

    @Test
    void theServersOwnFailoverIsFollowed() {
        LockLease held = await(client.lock("orders").acquire());
        replicated();

        String started = atFormer.redis()
                .dispatch(FAILOVER, new StatusOutput<>(StringCodec.UTF8), new CommandArgs<>(StringCodec.UTF8));
        assertThat(started).isEqualTo("OK");
        eventually(() -> isMaster(atNext));
        name.moveTo(next);

        eventually(this::isRenewedAtTheNewMaster);
        assertThat(held.isValid()).isTrue();
        await(held.release());
        assertThat(lost()).isEmpty();
    }

    @Test
    void confirmedGrantsFollowToo() {
        LockClient confirming = client(builder -> builder.confirmGrants(1, Duration.ofMillis(200)));
        await(await(confirming.lock("orders").acquire()).release());

        swapRoles();
        name.moveTo(next);
        eventually(() -> atNext.redis().info("replication").contains("state=online"));

        LockLease lease = await(confirming.lock("orders").acquire());
        assertThat(atNext.keys()).contains(Store.holderKey("orders"));
        await(lease.release());
        await(confirming.close());
    }

    @Test
    void tenThousandRefusalsMakeOneNewConnection() {
        RedisLockBackend backend = name.backend().build();
        Store.answer(backend.ping());
        swapRoles();
        name.moveTo(next);
        int before = name.lookups();

        Long refused = await(Flux.range(0, 10_000)
                .flatMap(i -> refusal(backend, "lock-" + i), 10_000)
                .count());

        assertThat(refused).as("refused by the former master").isPositive();
        assertThat(name.lookups() - before).isLessThanOrEqualTo(1);
        Store.answer(backend.tryAcquire(Store.claim("orders")));
        assertThat(name.lookups() - before).isEqualTo(1);
        Store.end(backend);
    }

    @Test
    void aNameThatStaysWithTheFormerMasterIsLookedUpNowAndThenOnly() {
        RedisLockBackend backend = name.backend().build();
        Store.answer(backend.ping());
        swapRoles();
        int before = name.lookups();
        long start = System.nanoTime();

        Long refused = await(Flux.interval(Duration.ofMillis(5))
                .onBackpressureDrop()
                .take(Duration.ofSeconds(3))
                .flatMap(i -> refusal(backend, "orders"))
                .count());

        assertThat(refused).isGreaterThan(50);
        long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
        assertThat(name.lookups() - before).isBetween(3, (int) (4 + 2 * seconds));

        name.moveTo(next);
        long moved = System.nanoTime();
        eventually(() -> await(refusal(backend, "orders").hasElement().map(isRefused -> !isRefused)));
        // The client resolves the name each second; the rest is for a machine that is busy.
        assertThat(Duration.ofNanos(System.nanoTime() - moved)).isLessThan(Duration.ofSeconds(6));
        Store.end(backend);
    }

    private static Mono<LockBackendException> refusal(RedisLockBackend backend, String lock) {
        return backend.tryAcquire(Store.claim(lock))
                .then(Mono.<LockBackendException>empty())
                .onErrorResume(LockBackendException.class, Mono::just);
    }

    private static final ProtocolKeyword FAILOVER = new ProtocolKeyword() {
        @Override
        public byte[] getBytes() {
            return "FAILOVER".getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public String toString() {
            return "FAILOVER";
        }
    };

    private CompletableFuture<LockLease> replicatedWaiter(ReactiveLock orders) {
        CompletableFuture<LockLease> waiter = orders.acquire().toFuture();
        eventually(() -> Store.waiting(atFormer.redis(), Store.holderKey("orders")) == 1);
        replicated();
        return waiter;
    }

    private void replicated() {
        assertThat(atFormer.redis().waitForReplication(1, 10_000)).isEqualTo(1);
    }

    private boolean isRenewedAtTheNewMaster() {
        long before = atNext.leaseLeft(Store.holderKey("orders"));
        ClientOverRedis.pause(Duration.ofMillis(50));
        return atNext.leaseLeft(Store.holderKey("orders")) > before;
    }

    private void swapRoles() {
        assertThat(atNext.redis().replicaofNoOne()).isEqualTo("OK");
        assertThat(atFormer.redis().replicaof(next.host(), next.port())).isEqualTo("OK");
    }

    private static boolean isMaster(Store store) {
        return store.redis().info("replication").contains("role:master");
    }

    private List<LockEvent> lost() {
        return events.stream().filter(LockEvent.Lost.class::isInstance).toList();
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
