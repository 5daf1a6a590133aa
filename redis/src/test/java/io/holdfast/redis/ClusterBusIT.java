package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.server.RedisCluster;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The cost of a hand-off for the cluster bus: a message of PUBLISH goes to every server, one of SPUBLISH to the
 * replicas of its master.
 */
class ClusterBusIT {

    /**
     * A waiter without a message sends its next attempt after this time, or after a third of its lease: both are longer
     * than anything here takes.
     */
    private static final Duration CLAIM_TIME = Duration.ofSeconds(30);

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int WAITERS = 10;

    private static RedisCluster cluster;
    private static List<Store> servers;
    private static List<Store> masters;
    private final List<LockClient> clients = new ArrayList<>();

    @BeforeAll
    static void startCluster() {
        cluster = RedisCluster.startWithReplicas();
        servers = Stream.concat(cluster.masters().stream(), cluster.replicas().stream())
                .map(Store::observing)
                .toList();
        masters = servers.subList(0, cluster.masters().size());
    }

    @AfterAll
    static void stopCluster() {
        servers.forEach(Store::stopObserving);
        cluster.close();
    }

    @BeforeEach
    void onlyWithShardedChannels() {
        String version = masters.get(0).redis().info("server");
        assumeTrue(!version.contains("redis_version:6."), "sharded channels came with Redis 7");
    }

    @AfterEach
    void closeClients() {
        clients.forEach(client -> await(client.close()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"mutex", "semaphore"})
    void handOffsReachOnlyTheReplicasOfTheirMaster(String kind) {
        List<ReactiveLock> locks = locks(kind, client(), client());
        openChannels(locks);

        Sent sent = sentBy(() -> handOffs(locks, 20));

        assertThat(sent.toAll()).isZero();
        // A grant to the client that releases is in its answer, and runs are passed on without a message.
        assertThat(sent.toReplicas()).isPositive();
        assertThat(sent.toReplicas() / sent.handOffs()).as("a grant and a hint").isLessThan(2.5);
    }

    @Test
    void aChannelThatBrokeReachesOnlyTheReplicasAgain() {
        List<ReactiveLock> locks = locks("mutex", client(), client());
        handOffs(locks, 10);
        masters.forEach(master -> master.redis().clientKill(KillArgs.Builder.typePubsub()));

        eventually(() -> sentBy(() -> handOffs(locks, 5)).toAll() == 0);
    }

    @Test
    void theDocumentedRightsKeepMessagesFromTheOtherServers() {
        String rights = RedisErrorsIT.DOCUMENTED_ACL + " +cluster|slots +asking +ssubscribe +spublish";
        masters.forEach(master -> master.user("locker", rights));
        List<ReactiveLock> locks = locks("mutex", client("locker"), client("locker"));
        openChannels(locks);

        assertThat(sentBy(() -> handOffs(locks, 20)).toAll()).isZero();
    }

    @ParameterizedTest(name = "rights: {0}")
    @ValueSource(strings = {"+@all -ssubscribe", "+@all -spublish"})
    void withoutTheRightToShardedChannelsPlainOnesServe(String rights) {
        masters.forEach(master -> master.user("plain", "on nopass ~* &* " + rights));
        masters.forEach(master -> assertThat(master.redis().configResetstat()).isEqualTo("OK"));
        List<ReactiveLock> locks = locks("mutex", client("plain"), client("plain"));
        handOffs(locks, 10);

        Sent sent = sentBy(() -> handOffs(locks, 20));

        assertThat(sent.toAll()).isPositive();
        assertThat(sent.toReplicas()).isZero();
        long ofTwoClients = rights.contains("-ssubscribe") ? 2 : 0;
        eventually(() -> masters.stream().mapToLong(ClusterBusIT::refusals).sum() == ofTwoClients);
    }

    @Test
    void aClientWithoutTheRightToPublishThereHandsOverAtOnce() {
        masters.forEach(master -> master.user("plain", "on nopass ~* &* +@all -spublish -ssubscribe"));
        ReactiveLock lock = client().lock("bus");
        handOffs(List.of(lock, lock), 2);
        LockLease held = await(client("plain").lock("bus").acquire());
        CompletableFuture<LockLease> waiter = lock.acquire().toFuture();
        eventually(() -> waiting() == 1);

        await(held.release());

        assertThat(waiter).succeedsWithin(PATIENCE);
        await(waiter.join().release());
    }

    @Test
    void waitersAreServedInTheirOrderWhenTheSlotOfTheirChannelHasMoved() {
        LockClient one = client();
        LockClient two = client();
        List<ReactiveLock> locks = locks("mutex", one, two);
        handOffs(locks, 10);
        LockLease held = await(client().lock("bus").acquire());
        List<Integer> served = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Integer>> waiters = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            int number = i;
            Mono<Integer> work = Mono.fromCallable(() -> {
                served.add(number);
                return number;
            });
            waiters.add(locks.get(i % 2).withLock(work).toFuture());
            eventually(() -> waiting() == number + 1);
        }
        Store owner = masters.get(slotOf(Store.holderKey("bus")) * masters.size() / SlotHash.SLOT_COUNT);
        Store other = masters.get((masters.indexOf(owner) + 1) % masters.size());
        eventually(() -> {
            List<String> sharded = owner.redis().pubsubShardChannels();
            return sharded.size() == 3 && owner.redis().pubsubChannels().containsAll(sharded);
        });
        List<String> before = owner.redis().pubsubShardChannels();
        try {
            before.forEach(channel -> own(slotOf(channel), other));
            await(held.release());

            assertThat(CompletableFuture.allOf(waiters.toArray(CompletableFuture<?>[]::new)))
                    .succeedsWithin(PATIENCE);
            assertThat(served).isSorted().hasSize(WAITERS);
            eventually(() -> sentBy(() -> handOffs(locks, 5)).toAll() == 0);
            eventually(() -> owner.redis().pubsubShardChannels().size() == 3);
            assertThat(owner.redis().pubsubShardChannels()).doesNotContainAnyElementsOf(before);
        } finally {
            before.forEach(channel -> own(slotOf(channel), owner));
        }
    }

    @Test
    void aStrangersSubscriptionTakesNoGrantFromAClientThatMayNotSubscribeThereAnyMore() {
        masters.forEach(master -> master.user("changed", "on nopass ~* &* +@all"));
        ReactiveLock lock = client("changed").lock("bus");
        handOffs(List.of(lock, lock), 3);
        int place = slotOf(Store.holderKey("bus")) * masters.size() / SlotHash.SLOT_COUNT;
        Store owner = masters.get(place);
        eventually(() -> owner.redis().pubsubShardChannels().size() == 1);
        String channel = owner.redis().pubsubShardChannels().get(0);
        LockLease held = await(client().lock("bus").acquire());
        masters.forEach(master -> master.user("changed", "on nopass ~* &* +@all -ssubscribe"));
        owner.redis().clientKill(KillArgs.Builder.typePubsub());
        eventually(() -> owner.redis().pubsubChannels().contains(channel));
        CompletableFuture<LockLease> waiter = lock.acquire().toFuture();
        eventually(() -> waiting() == 1);
        RedisClient stranger = RedisClient.create(cluster.masters().get(place).uri());
        try {
            stranger.connectPubSub().sync().ssubscribe(channel);

            await(held.release());

            assertThat(waiter).succeedsWithin(PATIENCE);
            await(waiter.join().release());
        } finally {
            stranger.shutdown();
        }
    }

    private record Sent(double toAll, double toReplicas, int handOffs) {}

    private static Sent sentBy(Supplier<Integer> work) {
        long all = sent("publish");
        long replicas = sent("publishshard");
        int handOffs = work.get();
        return new Sent(sent("publish") - all, sent("publishshard") - replicas, handOffs);
    }

    /** Lets both clients wait until each has its sharded channel, and until no waiter is left that came before that. */
    private static void openChannels(List<ReactiveLock> locks) {
        handOffs(locks, 10);
        eventually(() -> masters.stream()
                        .mapToInt(master -> master.redis().pubsubShardChannels().size())
                        .sum()
                == 2);
        handOffs(locks, 1);
    }

    /** Lets each waiter take the lock this many times, so it goes from hand to hand. */
    @CanIgnoreReturnValue
    private static int handOffs(List<ReactiveLock> locks, int rounds) {
        CompletableFuture<?>[] work = IntStream.range(0, WAITERS)
                .mapToObj(i -> Flux.range(0, rounds)
                        .concatMap(round -> locks.get(i % 2).withLock(Mono.just(round)))
                        .then()
                        .toFuture())
                .toArray(CompletableFuture<?>[]::new);
        assertThat(CompletableFuture.allOf(work)).succeedsWithin(PATIENCE);
        return WAITERS * rounds;
    }

    private static List<ReactiveLock> locks(String kind, LockClient... clients) {
        return Stream.of(clients)
                .map(client -> kind.equals("mutex") ? client.lock("bus") : client.semaphore("bus", 1))
                .toList();
    }

    private LockClient client() {
        return client("default");
    }

    private LockClient client(String user) {
        RedisURI uri = RedisURI.create(cluster.masters().get(0).uri());
        RedisURI asUser = user.equals("default")
                ? uri
                : RedisURI.builder(uri).withAuthentication(user, "any").build();
        return client(RedisLockBackend.clusterBuilder(List.of(asUser))
                .claimTime(CLAIM_TIME)
                .build());
    }

    private LockClient client(RedisLockBackend backend) {
        LockClient client = LockClient.builder(backend)
                .options(LockOptions.builder()
                        .leaseDuration(CLAIM_TIME.multipliedBy(4))
                        .build())
                .build();
        clients.add(client);
        return client;
    }

    private static long waiting() {
        String key = Store.holderKey("bus");
        Store master = masters.get(slotOf(key) * masters.size() / SlotHash.SLOT_COUNT);
        return Store.waiting(master.redis(), key);
    }

    private static int slotOf(String key) {
        return SlotHash.getSlot(key.getBytes(StandardCharsets.UTF_8));
    }

    /** Gives a slot without keys to that server. */
    private static void own(int slot, Store owner) {
        String id = owner.redis().clusterMyId();
        // The new owner first: otherwise the old one would pass the slot on.
        Stream.concat(Stream.of(owner), masters.stream().filter(master -> master != owner))
                .forEach(master ->
                        assertThat(master.redis().clusterSetSlotNode(slot, id)).isEqualTo("OK"));
    }

    /** Counts over all servers. */
    private static long sent(String type) {
        Pattern counter = Pattern.compile("cluster_stats_messages_" + type + "_sent:(\\d+)");
        return servers.stream()
                .mapToLong(server -> number(counter, server.redis().clusterInfo()))
                .sum();
    }

    private static long refusals(Store master) {
        Pattern counter = Pattern.compile("cmdstat_ssubscribe:.*rejected_calls=(\\d+)");
        return number(counter, master.redis().info("commandstats"));
    }

    private static long number(Pattern counter, String text) {
        Matcher found = counter.matcher(text);
        return found.find() ? Long.parseLong(found.group(1)) : 0;
    }
}
