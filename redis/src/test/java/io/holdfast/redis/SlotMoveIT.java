package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.testkit.ExclusionProbe;
import io.holdfast.testkit.server.RedisCluster;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Slots that move from one master to another while their locks are in use. */
class SlotMoveIT {

    private static final Duration WORK = Duration.ofMillis(2);
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private RedisCluster cluster;
    private List<Store> stores;
    private RedisLockBackend backend;
    private RedisLockBackend another;

    @BeforeEach
    void start() {
        cluster = RedisCluster.start();
        stores = cluster.masters().stream().map(Store::observing).toList();
        List<RedisURI> seeds = List.of(stores.get(2).uri());
        backend = RedisLockBackend.cluster(seeds);
        another = RedisLockBackend.cluster(seeds);
    }

    @AfterEach
    void stop() {
        Store.end(backend);
        Store.end(another);
        stores.forEach(Store::stopObserving);
        cluster.close();
    }

    @Test
    void locksOfASlotThatMovesUnderLoadExcludeServeAllAndLeaveNothing() {
        String name = names(0, 1).iterator().next();
        LockOptions options =
                LockOptions.builder().leaseDuration(Duration.ofSeconds(20)).build();
        List<LockClient> clients = List.of(
                LockClient.builder(backend).options(options).build(),
                LockClient.builder(another).options(options).build());
        ExclusionProbe mutex = ExclusionProbe.exclusive();
        ExclusionProbe writers = ExclusionProbe.exclusive();
        ExclusionProbe permits = ExclusionProbe.of(3);
        List<CompletableFuture<Long>> work = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            LockClient client = clients.get(i % 2);
            work.add(rounds(client.lock(name), mutex));
            work.add(rounds(client.readWriteLock(name).writeLock(), writers));
            work.add(rounds(client.semaphore(name, 3), permits));
        }

        int[] owners = {0, 1, 2, 0};
        for (int move = 0; move + 1 < owners.length; move++) {
            int before = mutex.entries();
            eventually(() -> mutex.entries() > before + 20);
            move(name, stores.get(owners[move]), stores.get(owners[move + 1]));
        }
        int afterTheLast = mutex.entries();
        eventually(() -> mutex.entries() > afterTheLast);
        work.forEach(one -> assertThat(one).succeedsWithin(PATIENCE).isEqualTo(60L));

        mutex.verify();
        writers.verify();
        permits.verify();
        assertThat(afterTheLast).as("the moves happened under load").isLessThan(600);
        clients.forEach(client -> await(client.close()));
        List<String> left =
                stores.stream().flatMap(store -> store.leftovers().stream()).toList();
        assertThat(left).isEmpty();
    }

    private static CompletableFuture<Long> rounds(ReactiveLock lock, ExclusionProbe probe) {
        return Flux.range(0, 60)
                .concatMap(round -> lock.withLock(lease ->
                        probe.guard(lease.fencingToken(), Mono.delay(WORK).thenReturn(round))))
                .count()
                .toFuture();
    }

    @Test
    void aMutexWithoutWaitersIsServedWhileItsSlotIsOpen() {
        List<String> names = List.copyOf(names(0, 2));
        String known = names.get(0);
        String fresh = names.get(1);
        LockClient client = LockClient.builder(backend).build();
        LockClient stranger = LockClient.builder(another).build();
        await(client.lock(known).acquire().flatMap(LockLease::release));
        names.forEach(name -> open(name, stores.get(0), stores.get(1)));

        for (String name : names) {
            LockLease held = requireNonNull(client.lock(name).tryAcquire().block(PATIENCE));
            assertThat(stranger.lock(name).tryAcquire().blockOptional(PATIENCE))
                    .as("held")
                    .isEmpty();
            await(held.renew());
            await(held.release());
            LockLease next = requireNonNull(stranger.lock(name).acquire().block(PATIENCE));
            assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
            moveKeys(name, stores.get(0), stores.get(1));
            assertThat(client.lock(name).tryAcquire().blockOptional(PATIENCE))
                    .as("held, and moved")
                    .isEmpty();
            await(next.release());
        }

        names.forEach(name -> close(name, stores.get(1)));
        await(client.lock(fresh).acquire().flatMap(LockLease::release));
        await(client.close());
        await(stranger.close());
    }

    @Test
    void tenThousandRedirectedClaimsRequestTheMapOnce() {
        Set<String> names = names(0, 20);
        assertThat(acquired(names)).isEqualTo(20);
        for (String name : names) {
            move(name, stores.get(0), stores.get(1));
        }
        stores.forEach(store -> assertThat(store.redis().configResetstat()).isEqualTo("OK"));

        List<String> again = Flux.fromIterable(names).repeat(499).collectList().block();
        assertThat(again).hasSize(10_000);
        assertThat(acquired(again)).as("the locks are held").isZero();

        assertThat(stores.stream().mapToLong(SlotMoveIT::requests).sum()).isOne();
        stores.get(1).redis().flushall();
    }

    private static long requests(Store store) {
        // Version 7 counts subcommands by themselves.
        return store.calls("cluster\\|slots") + store.calls("cluster");
    }

    /** Ten thousand at once take a busy machine longer than one request may. */
    private long acquired(Iterable<String> names) {
        return requireNonNull(Flux.fromIterable(names)
                .flatMap(name -> backend.tryAcquire(Store.claim(name)), 10_000)
                .filter(LockAttempt.Acquired.class::isInstance)
                .count()
                .block(Duration.ofSeconds(60)));
    }

    /** Moves a slot as redis-cli does: key by key, until none is left. */
    private void move(String name, Store from, Store to) {
        open(name, from, to);
        moveKeys(name, from, to);
        close(name, to);
    }

    private static void open(String name, Store from, Store to) {
        int slot = slotOf(name);
        to.redis().clusterSetSlotImporting(slot, from.redis().clusterMyId());
        from.redis().clusterSetSlotMigrating(slot, to.redis().clusterMyId());
    }

    private static void moveKeys(String name, Store from, Store to) {
        int slot = slotOf(name);
        for (List<String> keys = from.redis().clusterGetKeysInSlot(slot, 10);
                !keys.isEmpty();
                keys = from.redis().clusterGetKeysInSlot(slot, 10)) {
            for (String key : keys) {
                // NOKEY: it was there just now.
                assertThat(from.redis().migrate("127.0.0.1", to.server.port(), key, 0, 5_000))
                        .isIn("OK", "NOKEY");
            }
        }
    }

    /** The new owner first: otherwise the old one would pass the slot on. */
    private void close(String name, Store to) {
        int slot = slotOf(name);
        String newOwner = to.redis().clusterMyId();
        to.redis().clusterSetSlotNode(slot, newOwner);
        stores.forEach(store ->
                assertThat(store.redis().clusterSetSlotNode(slot, newOwner)).isEqualTo("OK"));
    }

    /** Returns names whose locks are at that master, each in a slot of its own. */
    private static Set<String> names(int server, int count) {
        Set<String> names = new LinkedHashSet<>();
        Set<Integer> slots = new LinkedHashSet<>();
        for (int i = 0; names.size() < count; i++) {
            int slot = slotOf("lock-" + i);
            if (slot * 3 / SlotHash.SLOT_COUNT == server && slots.add(slot)) {
                names.add("lock-" + i);
            }
        }
        return names;
    }

    private static int slotOf(String name) {
        return SlotHash.getSlot(Store.holderKey(name).getBytes(StandardCharsets.UTF_8));
    }
}
