package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.testkit.server.RedisCluster;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One master of a cluster fails, and its replica is promoted. */
class RedisClusterFailoverIT {

    /** Longer than a failover, so that only the subject of a test ends a lease. */
    private static final Duration LEASE = Duration.ofSeconds(12);

    private static final int EACH = 10;

    private final List<LockEvent> events = new CopyOnWriteArrayList<>();
    private RedisCluster cluster;
    private Store atMaster;
    private LockClient client;
    private LockClient rival;

    @BeforeEach
    void start() {
        cluster = RedisCluster.startWithReplicas();
        atMaster = Store.observing(cluster.masters().get(0));
        client = client();
        rival = client();
    }

    @AfterEach
    void stop() {
        await(client.close());
        await(rival.close());
        atMaster.stopObserving();
        cluster.close();
    }

    private LockClient client() {
        List<RedisURI> seeds = cluster.masters().stream()
                .map(master -> RedisURI.create(master.uri()))
                .toList();
        return LockClient.builder(RedisLockBackend.cluster(seeds))
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .operationTimeout(Duration.ofMillis(500))
                .listener(events::add)
                .build();
    }

    @Test
    void holdersAndWaitersOfAKilledMasterGoOnAtItsReplicaAndTheOthersNoticeNothing() {
        List<LockLease> held = names(0).stream().map(this::acquired).toList();
        List<LockLease> elsewhere = IntStream.of(1, 2)
                .mapToObj(RedisClusterFailoverIT::names)
                .flatMap(List::stream)
                .map(this::acquired)
                .toList();
        List<CompletableFuture<LockLease>> waiters =
                names(0).stream().map(name -> waiting(rival, name)).toList();
        awaitReplicaInStep();

        cluster.masters().get(0).stop();
        cluster.awaitPromotion(0);
        held.forEach(lease -> eventually(() -> renews(lease)));
        assertThat(waiters).noneMatch(CompletableFuture::isDone);
        held.forEach(lease -> await(lease.release()));

        for (int i = 0; i < EACH; i++) {
            LockLease next = waiters.get(i).join();
            assertThat(next.fencingToken()).isGreaterThan(held.get(i).fencingToken());
            await(next.release());
        }
        assertThat(elsewhere).allMatch(LockLease::isValid);
        assertThat(lostOrNotRenewed(1)).isEmpty();
        assertThat(lostOrNotRenewed(2)).isEmpty();
        elsewhere.forEach(lease -> await(lease.release()));
    }

    @Test
    void aMasterThatHangsEndangersNoLeaseOfTheOthersAndIsLeftForItsReplica() {
        List<LockLease> held = names(0).stream().map(this::acquired).toList();
        List<LockLease> elsewhere = names(1).stream().map(this::acquired).toList();
        CompletableFuture<LockLease> waiter = waiting(rival, names(0).get(0));
        awaitReplicaInStep();

        cluster.masters().get(0).pause();
        try {
            cluster.awaitPromotion(0);
            held.forEach(lease -> eventually(() -> renews(lease)));
            await(held.get(0).release());

            assertThat(waiter.join().fencingToken()).isGreaterThan(held.get(0).fencingToken());
            assertThat(elsewhere).allMatch(LockLease::isValid);
            assertThat(lostOrNotRenewed(1)).isEmpty();
            assertThat(lostOrNotRenewed(0)).noneMatch(LockEvent.Lost.class::isInstance);
        } finally {
            cluster.masters().get(0).resume();
        }
    }

    @Test
    void aPlannedFailoverIsFollowedAndConnectionsToTheFormerMasterAreClosed() {
        String name = names(0).get(0);
        LockLease held = acquired(name);
        LockLease keptOn = await(rival.lock(names(0).get(1)).acquire());
        CompletableFuture<LockLease> waiter = waiting(rival, name);
        awaitReplicaInStep();
        Store atReplica = Store.observing(cluster.replicas().get(0));
        eventually(() -> !atMaster.redis().pubsubChannels().isEmpty());

        assertThat(atReplica.redis().clusterFailover(false)).isEqualTo("OK");
        cluster.awaitPromotion(0);
        await(held.release());

        assertThat(waiter.join().fencingToken()).isGreaterThan(held.fencingToken());
        await(waiter.join().release());
        // Only the connections of this test and of the replication are left.
        eventually(() -> connectionsOfClients(atMaster) == 1);
        assertThat(keptOn.isValid()).isTrue();
        assertThat(connectionsOfClients(atReplica))
                .as("client, rival, this test")
                .isGreaterThanOrEqualTo(3);
        atReplica.stopObserving();
    }

    /** The clients know the former map when they start: they learn of the slots after they have opened the channel. */
    @Test
    void aChannelAtAPromotedReplicaIsSharded() {
        String name = names(0).get(0);
        Store promoted = Store.observing(cluster.replicas().get(0));
        assumeTrue(!promoted.redis().info("server").contains("redis_version:6."), "sharded channels came with Redis 7");
        await(acquired(name).release());
        await(await(rival.lock(name).acquire()).release());
        awaitReplicaInStep();
        assertThat(promoted.redis().clusterFailover(false)).isEqualTo("OK");
        cluster.awaitPromotion(0);
        LockLease held = acquired(name);

        CompletableFuture<LockLease> waiter = rival.lock(name).acquire().toFuture();

        eventually(() -> promoted.redis().pubsubShardChannels().size() == 1);
        await(held.release());
        await(waiter.join().release());
        promoted.stopObserving();
    }

    private static long connectionsOfClients(Store store) {
        return store.redis()
                .clientList()
                .lines()
                .filter(line -> !line.contains(" flags=S") && !line.contains(" flags=M"))
                .count();
    }

    @Test
    void aHolderWhoseGrantTheReplicaMissedLearnsOfItByItsNextRenewalAndTokensRise() {
        String name = names(0).get(0);
        await(acquired(names(0).get(1)).release());
        await(await(rival.lock(names(0).get(2)).acquire()).release());
        // The replica cannot come back: it does not know the password that the master requires from now on.
        assertThat(atMaster.redis().configSet("requirepass", "unknown")).isEqualTo("OK");
        assertThat(atMaster.redis().clientKill(KillArgs.Builder.typeSlave())).isPositive();
        LockLease held = acquired(name);
        CompletableFuture<LossReason> loss = held.onLoss().toFuture();

        cluster.masters().get(0).stop();
        cluster.awaitPromotion(0);

        theRivalAcquiresWithAHigherTokenAndTheHolderLearnsOfIt(held, loss);
    }

    /** A replica of Redis, up to 8.0, does not know that the keys of the slot have left, and takes the lock for free. */
    @Test
    void aFailoverInTheMiddleOfAMoveCostsTheHolderItsLeaseAndTokensRise() {
        assumeFalse(isValkey(), "a replica of Valkey knows of the move");
        String name = names(0).get(0);
        LockLease held = acquired(name);
        CompletableFuture<LossReason> loss = held.onLoss().toFuture();

        failOverInTheMiddleOfAMove(name, held);

        theRivalAcquiresWithAHigherTokenAndTheHolderLearnsOfIt(held, loss);
    }

    @Test
    void aFailoverOfValkeyInTheMiddleOfAMoveLeavesTheLeaseToItsHolder() {
        assumeTrue(isValkey(), "a replica of Redis does not know of the move");
        String name = names(0).get(0);
        LockLease held = acquired(name);

        failOverInTheMiddleOfAMove(name, held);

        eventually(() -> renews(held));
        assertThatThrownBy(() -> await(rival.lock(name).tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("the cluster is moving the lock's slot");
        assertThat(held.isValid()).isTrue();
        await(held.release());
    }

    private void theRivalAcquiresWithAHigherTokenAndTheHolderLearnsOfIt(
            LockLease held, CompletableFuture<LossReason> loss) {
        LockLease next = await(rival.lock(held.lockName()).acquire());
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        assertThat(loss).succeedsWithin(LEASE).isEqualTo(LossReason.NOT_HELD);
        assertThat(next.isValid()).isTrue();
        await(next.release());
    }

    private boolean isValkey() {
        return atMaster.redis().info("server").contains("valkey_version");
    }

    private void failOverInTheMiddleOfAMove(String name, LockLease held) {
        Store target = Store.observing(cluster.masters().get(1));
        Store promoted = Store.observing(cluster.replicas().get(0));
        moveKeys(name, target);
        await(held.renew());
        assertThat(held.isValid()).as("renewed where the keys are").isTrue();
        awaitReplicaInStep();

        assertThat(promoted.redis().clusterFailover(false)).isEqualTo("OK");
        // Not by all servers: the target of the move keeps its former map of this slot.
        eventually(() -> promoted.redis().info("replication").contains("role:master"));
        target.stopObserving();
        promoted.stopObserving();
    }

    /** Begins to move the slot of a lock, and moves its keys. The slot still belongs to the first master. */
    private void moveKeys(String name, Store target) {
        int slot = SlotHash.getSlot(Store.holderKey(name).getBytes(StandardCharsets.UTF_8));
        assertThat(target.redis().clusterSetSlotImporting(slot, atMaster.redis().clusterMyId()))
                .isEqualTo("OK");
        assertThat(atMaster.redis().clusterSetSlotMigrating(slot, target.redis().clusterMyId()))
                .isEqualTo("OK");
        List<String> keys = atMaster.redis().clusterGetKeysInSlot(slot, 100);
        assertThat(keys).isNotEmpty();
        for (String key : keys) {
            assertThat(atMaster.redis().migrate("127.0.0.1", target.server.port(), key, 0, 5_000))
                    .isEqualTo("OK");
        }
    }

    private LockLease acquired(String name) {
        return await(client.lock(name).acquire());
    }

    private CompletableFuture<LockLease> waiting(LockClient by, String name) {
        CompletableFuture<LockLease> waiter = by.lock(name).acquire().toFuture();
        eventually(() -> Store.waiting(atMaster.redis(), Store.holderKey(name)) == 1);
        return waiter;
    }

    private void awaitReplicaInStep() {
        Pattern offsets = Pattern.compile("(?s)offset=(\\d+).*master_repl_offset:(\\d+)");
        eventually(() -> {
            Matcher both = offsets.matcher(atMaster.redis().info("replication"));
            return both.find() && both.group(1).equals(both.group(2));
        });
    }

    private List<LockEvent> lostOrNotRenewed(int server) {
        return events.stream()
                .filter(event -> event instanceof LockEvent.RenewalFailed || event instanceof LockEvent.Lost)
                .filter(event -> names(server).contains(event.lockName()))
                .toList();
    }

    private static List<String> names(int server) {
        List<String> names = new ArrayList<>();
        for (int i = 0; names.size() < EACH; i++) {
            String key = Store.holderKey("lock-" + i);
            int slot = SlotHash.getSlot(key.getBytes(StandardCharsets.UTF_8));
            if (slot * 3 / SlotHash.SLOT_COUNT == server) {
                names.add("lock-" + i);
            }
        }
        return names;
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
