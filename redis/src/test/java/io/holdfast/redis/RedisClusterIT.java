package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
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
import io.holdfast.testkit.server.RedisCluster;
import io.holdfast.testkit.server.RedisReplicas;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** What is different in a cluster: where commands go, which server sends which message, and slots that move. */
class RedisClusterIT {

    /**
     * Far longer than anything takes here, unless it waits for this time to pass; and so is a third of a lease, 10 s.
     */
    private static final Duration LONG_CLAIM_TIME = Duration.ofSeconds(20);

    private static final Duration NO_CLAIM_TIME = Duration.ofSeconds(8);

    private static final Retry WHILE_IT_CONNECTS = Retry.fixedDelay(900, Duration.ofMillis(10))
            .filter(e -> e instanceof LockBackendException failed && failed.isTransient());

    /** Additional time for a machine that is busy. */
    private static final Duration SLACK = Duration.ofSeconds(4);

    private static RedisCluster cluster;
    private static List<Store> stores;
    private RedisLockBackend backend;
    private RedisLockBackend another;

    @BeforeAll
    static void startCluster() {
        cluster = RedisCluster.start();
        stores = cluster.masters().stream().map(Store::observing).toList();
    }

    @AfterAll
    static void stopCluster() {
        stores.forEach(Store::stopObserving);
        cluster.close();
    }

    @BeforeEach
    void start() {
        backend = client();
        another = client();
    }

    @AfterEach
    void stop() {
        Store.end(backend);
        Store.end(another);
    }

    private static RedisLockBackend client() {
        return RedisLockBackend.cluster(List.of(uri(0)));
    }

    private static RedisLockBackend client(Duration claimTime) {
        return RedisLockBackend.clusterBuilder(List.of(uri(0)))
                .claimTime(claimTime)
                .build();
    }

    private static RedisURI uri(int number) {
        return RedisURI.create(cluster.masters().get(number).uri());
    }

    @ParameterizedTest
    @ValueSource(strings = {"orders", "a b", "{", "}", "{}", "{}x", "a{b}c", "}{", "%7B", "ключ/鍵/🔑", "a:mutex", "\n"})
    void allKeysOfALockAreInOneSlotWithAnyName(String lock) {
        String name = lock.isBlank() ? "x" + lock : lock;
        LockClaim holder = Store.claim(name);
        LockClaim waiter = Store.claim(name, Waiting.QUEUE);
        Disposable watch = another.watch(waiter).subscribe();

        assertThat(Store.answer(backend.tryAcquire(holder))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(another.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(Store.answer(backend.renew(holder))).isInstanceOf(Renewal.Held.class);
        assertThat(Store.answer(another.release(waiter))).isEqualTo(Ownership.NOT_HELD);
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        watch.dispose();
    }

    @Test
    void aMasterThatIsLateWithARenewalKeepsItsConnection() {
        List<LockClaim> held = names(30).stream().map(Store::claim).toList();
        held.forEach(
                claim -> assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class));
        String before = connectionsAt(0);

        // On a busy machine the pause may be over before the renewal arrives.
        eventually(() -> {
            assertThat(stores.get(0).redis().clientPause(600)).isEqualTo("OK");
            List<Renewal> answers = Store.answer(backend.renewAll(held).collectList());
            assertThat(answers).hasAtLeastOneElementOfType(Renewal.Held.class);
            return answers.stream().anyMatch(Renewal.Unknown.class::isInstance);
        });
        eventually(() ->
                Store.answer(backend.renewAll(held).collectList()).stream().allMatch(Renewal.Held.class::isInstance));

        assertThat(connectionsAt(0)).isEqualTo(before);
        held.forEach(claim -> assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD));
    }

    private static String connectionsAt(int master) {
        return stores.get(master)
                .redis()
                .info("stats")
                .lines()
                .filter(line -> line.startsWith("total_connections_received:"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void firstCommandsForEachServerAreAnswered() {
        assertThat(Store.answer(acquiredOfAll(backend, names(300)))).isEqualTo(300);
    }

    @Test
    void renewalsOfLocksOnAllServersAreAnsweredInOrder() {
        List<LockClaim> claims = names(200).stream().map(Store::claim).toList();
        Store.answer(Flux.fromIterable(claims).flatMap(backend::tryAcquire).count());
        List<Boolean> isHeld = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            isHeld.add(i % 3 != 0);
            if (i % 3 == 0) {
                Store.answer(backend.release(claims.get(i)));
            }
        }

        List<Renewal> answers = Store.answer(backend.renewAll(claims).collectList());

        assertThat(answers.stream().map(Renewal.Held.class::isInstance)).isEqualTo(isHeld);
    }

    @Test
    void aWaiterWhoseChannelIsAtAnotherServerGetsTheLockAtOnce() {
        LockClient holder = LockClient.create(backend);
        LockClient waiter = LockClient.create(client(LONG_CLAIM_TIME));
        List<Long> tokens = new CopyOnWriteArrayList<>();
        long slowestNanos = 0;
        for (String name : names(9)) {
            LockLease held = Store.answer(holder.lock(name).acquire());
            CompletableFuture<LockLease> next = waiter.lock(name).acquire().toFuture();
            eventually(() -> queueOf(name) == 1);
            long released = System.nanoTime();
            ClientOverRedis.await(held.release());
            LockLease lease = next.join();
            slowestNanos = Math.max(slowestNanos, System.nanoTime() - released);
            tokens.add(lease.fencingToken() - held.fencingToken());
            ClientOverRedis.await(lease.release());
        }
        assertThat(tokens).hasSize(9).allMatch(rise -> rise > 0);
        assertThat(Duration.ofNanos(slowestNanos)).isLessThan(NO_CLAIM_TIME);
        ClientOverRedis.await(holder.close());
        ClientOverRedis.await(waiter.close());
    }

    @Test
    void waitersAreServedInTheOrderOfTheirArrival() {
        LockClient one = LockClient.create(backend);
        LockClient two = LockClient.create(another);
        LockLease holder = Store.answer(one.lock("orders").acquire());
        List<Integer> served = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Integer>> waiters = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            int number = i;
            waiters.add((i % 2 == 0 ? one : two)
                    .lock("orders")
                    .withLock(Mono.fromCallable(() -> {
                        served.add(number);
                        return number;
                    }))
                    .toFuture());
            eventually(() -> Store.waiting(serverOf("orders").redis(), Store.holderKey("orders")) == number + 1);
        }

        ClientOverRedis.await(holder.release());
        waiters.forEach(CompletableFuture::join);

        assertThat(served).isSorted().hasSize(20);
        ClientOverRedis.await(one.close());
        ClientOverRedis.await(two.close());
    }

    @Test
    void aChannelThatBrokeIsOpenedAgainAndWaitersTryAgain() throws InterruptedException {
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        LockClaim holder = Store.claim("orders");
        LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
        Store.answer(backend.tryAcquire(holder));
        Disposable watch = another.watch(waiter).subscribe(signals::add);
        Store.answer(another.tryAcquire(waiter));
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Armed.class);

        for (Store store : stores) {
            store.redis().clientKill(KillArgs.Builder.typePubsub());
        }
        assertThat(signals.poll(10, TimeUnit.SECONDS)).as("lost").isInstanceOf(WatchSignal.Changed.class);
        assertThat(signals.poll(10, TimeUnit.SECONDS)).as("restored").isInstanceOf(WatchSignal.Armed.class);
        Store.answer(backend.release(holder).retryWhen(WHILE_IT_CONNECTS));

        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Granted.class);
        Store.answer(another.release(waiter));
        watch.dispose();
    }

    @Test
    void waitersOfAKilledProcessArePassedOverInOneGo() {
        RedisLockBackend dying = client(LONG_CLAIM_TIME);
        LockClient holder = LockClient.create(backend);
        LockClient waiter = LockClient.create(client(LONG_CLAIM_TIME));
        LockLease held = Store.answer(holder.lock("orders").acquire());
        for (int i = 0; i < 300; i++) {
            queued(dying, "orders");
        }
        CompletableFuture<LockLease> next = waiter.lock("orders").acquire().toFuture();
        eventually(() -> queueOf("orders") == 301);
        long listening = channelsAt(serverOf("orders"));
        Store.end(dying);
        eventually(() -> channelsAt(serverOf("orders")) == listening - 1);

        long released = System.nanoTime();
        ClientOverRedis.await(held.release());
        LockLease lease = next.join();

        assertThat(Duration.ofNanos(System.nanoTime() - released))
                .as("not even one claim time")
                .isLessThan(NO_CLAIM_TIME);
        ClientOverRedis.await(lease.release());
        ClientOverRedis.await(holder.close());
        ClientOverRedis.await(waiter.close());
        empty(serverOf("orders"));
    }

    @Test
    void aWaiterThatHangsAtTheHeadCostsTheNextOneNoMoreThanTwoClaimTimes() {
        Duration claimTime = Duration.ofSeconds(1);
        RedisLockBackend hanging = client(claimTime);
        LockClient holder = LockClient.create(backend);
        LockClient waiter = LockClient.create(client(claimTime));
        LockLease held = Store.answer(holder.lock("orders").acquire());
        queued(hanging, "orders");
        CompletableFuture<LockLease> next = waiter.lock("orders").acquire().toFuture();
        eventually(() -> queueOf("orders") == 2);

        long released = System.nanoTime();
        ClientOverRedis.await(held.release());
        LockLease lease = next.join();

        assertThat(Duration.ofNanos(System.nanoTime() - released))
                .as("and a third of the lease is 10 s")
                .isLessThan(claimTime.multipliedBy(2).plus(SLACK));
        ClientOverRedis.await(lease.release());
        ClientOverRedis.await(holder.close());
        ClientOverRedis.await(waiter.close());
        Store.end(hanging);
    }

    @Test
    void aClientHasOneChannelAtEachServerAndAMessageComesOnce() throws InterruptedException {
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        for (int server = 0; server < 2; server++) {
            for (int i = 0; i < 3; i++) {
                String name = nameAt(server);
                Store.answer(backend.tryAcquire(Store.claim(name)));
                queued(another, name);
            }
        }
        String name = nameAt(1);
        LockClaim holder = Store.claim(name);
        Store.answer(backend.tryAcquire(holder));
        LockClaim waiter = Store.claim(name, Waiting.QUEUE);
        Disposable watch = another.watch(waiter).subscribe(signals::add);
        Store.answer(another.tryAcquire(waiter));
        assertThat(stores).as("of both clients").allMatch(store -> channelsAt(store) <= 2);

        Store.answer(backend.release(holder));
        assertThat(nextOf(signals, WatchSignal.Granted.class)).isNotNull();
        Store.answer(another.release(waiter));
        assertThat(signals).noneMatch(WatchSignal.Granted.class::isInstance);
        watch.dispose();
        stores.forEach(RedisClusterIT::empty);
    }

    @Test
    void aWatchIsNotArmedByTheChannelAtAnotherServer() {
        String here = nameAt(0);
        String there = nameAt(1);
        Store.answer(backend.tryAcquire(Store.claim(here)));
        queued(another, here);
        List<WatchSignal> signalsThere = new CopyOnWriteArrayList<>();
        List<WatchSignal> signalsHere = new CopyOnWriteArrayList<>();
        Disposable watch = another.watch(Store.claim(there, Waiting.QUEUE)).subscribe(signalsThere::add);
        Disposable same = another.watch(Store.claim(here, Waiting.QUEUE)).subscribe(signalsHere::add);

        // The server may know of the channel before the client has read that it does.
        eventually(() -> !signalsHere.isEmpty());
        assertThat(signalsHere).hasSize(1);
        assertThat(signalsThere).as("of a server without a channel").isEmpty();
        watch.dispose();
        same.dispose();
        stores.forEach(RedisClusterIT::empty);
    }

    @ParameterizedTest(name = "it has a channel there already: {0}")
    @ValueSource(booleans = {false, true})
    void aWaiterThatIsPassedOverSinceItsSlotMovedIsToldToAttemptAndNotThatItHolds(boolean isHeardThere)
            throws InterruptedException {
        String name = nameAt(0);
        if (isHeardThere) {
            String there = nameAt(1);
            Store.answer(backend.tryAcquire(Store.claim(there)));
            queued(another, there);
        }
        int slot = slotOf(name);
        LockClaim holder = Store.claim(name);
        LockClaim waiter = Store.claim(name, Waiting.QUEUE);
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        Store.answer(backend.tryAcquire(holder));
        Disposable watch = another.watch(waiter).subscribe(signals::add);
        Store.answer(another.tryAcquire(waiter));
        assertThat(nextOf(signals, WatchSignal.Armed.class)).isNotNull();
        try {
            move(slot, stores.get(0), stores.get(1));
            Store.answer(backend.release(holder));

            assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Changed.class);
            LockClaim stranger = Store.claim(name);
            assertThat(Store.answer(backend.tryAcquire(stranger))).isInstanceOf(LockAttempt.Acquired.class);
            assertThat(Store.answer(another.tryAcquire(waiter.withAttempt(2)))).isInstanceOf(LockAttempt.Queued.class);
            assertThat(nextOf(signals, WatchSignal.Armed.class))
                    .as("at the new server")
                    .isNotNull();
            assertThat(Store.answer(backend.release(stranger))).isEqualTo(Ownership.HELD);
            assertThat(nextOf(signals, WatchSignal.Granted.class).attempt()).isEqualTo(2);
            assertThat(signals).isEmpty();
            Store.answer(another.release(waiter.withAttempt(2)));
        } finally {
            watch.dispose();
            giveBack(slot, stores.get(1), stores.get(0));
        }
    }

    @Test
    void waitersFollowTheirSlotAtOnceFromAnyPlace() {
        LockClient holder = LockClient.create(backend);
        LockClient waiting = LockClient.create(client(LONG_CLAIM_TIME));
        String name = nameAt(0);
        int slot = slotOf(name);
        LockLease held = Store.answer(holder.lock(name).acquire());
        List<CompletableFuture<LockLease>> waiters = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int place = i;
            waiters.add(waiting.lock(name).acquire().toFuture());
            eventually(() -> queueOf(name) == place + 1);
        }
        try {
            move(slot, stores.get(0), stores.get(1));

            // A waiter whose channel is not open yet at the new server may be passed over, and keeps its place.
            Queue<Long> tokens = new ConcurrentLinkedQueue<>(List.of(held.fencingToken()));
            CompletableFuture<?>[] served = waiters.stream()
                    .map(waiter -> waiter.thenCompose(lease -> {
                        tokens.add(lease.fencingToken());
                        return lease.release().toFuture();
                    }))
                    .toArray(CompletableFuture<?>[]::new);
            ClientOverRedis.await(held.release());
            assertThat(CompletableFuture.allOf(served))
                    .as("each would send an attempt by itself after 10 s")
                    .succeedsWithin(NO_CLAIM_TIME);
            assertThat(List.copyOf(tokens)).hasSize(6).isSorted();
        } finally {
            giveBack(slot, stores.get(1), stores.get(0));
            ClientOverRedis.await(holder.close());
            ClientOverRedis.await(waiting.close());
        }
    }

    @Test
    void locksFollowTheirSlotToAnotherServer() {
        String name = nameAt(0);
        int slot = slotOf(name);
        LockClaim held = Store.claim(name);
        Store.answer(backend.tryAcquire(held));
        Store from = stores.get(0);
        Store to = stores.get(1);
        try {
            to.redis().clusterSetSlotImporting(slot, from.redis().clusterMyId());
            from.redis().clusterSetSlotMigrating(slot, to.redis().clusterMyId());
            migrate(from, to, Store.holderKey(name));

            assertThat(Store.answer(backend.renew(held))).as("after ASK").isInstanceOf(Renewal.Held.class);
            assertThat(Store.answer(another.tryAcquire(Store.claim(name))))
                    .as("held, after ASK")
                    .isInstanceOf(LockAttempt.Contended.class);

            own(slot, to);
            assertThat(Store.answer(another.tryAcquire(Store.claim(name))))
                    .as("after MOVED")
                    .isInstanceOf(LockAttempt.Contended.class);
            assertThat(Store.answer(backend.release(held))).isEqualTo(Ownership.HELD);
        } finally {
            giveBack(slot, to, from);
        }
    }

    @Test
    void aDeletedKeyIsSignalledAtOnceByItsServer() {
        Duration lease = Duration.ofSeconds(30);
        LockClient told = LockClient.builder(RedisLockBackend.clusterBuilder(
                                List.of(RedisURI.create(cluster.masters().get(0).uri())))
                        .lossByPush(true)
                        .build())
                .options(LockOptions.builder().leaseDuration(lease).build())
                .build();
        for (String name : List.of("a", "b", "c", "d", "e", "f")) {
            Store server = serverOf(name);
            LockLease held = await(told.lock(name).acquire());
            CompletableFuture<LossReason> loss = held.onLoss().toFuture();
            eventually(() -> server.redis().info("stats").contains("tracking_total_keys:1"));
            assertThat(server.redis().del(Store.holderKey(name))).isEqualTo(1);
            assertThat(loss).as(name).succeedsWithin(lease.dividedBy(6)).isEqualTo(LossReason.NOT_HELD);
        }
        await(told.close());
    }

    @Test
    void aGrantIsConfirmedByTheReplicasOfItsOwnMaster() {
        String withReplica = "orders";
        Store master = serverOf(withReplica);
        String without = IntStream.range(0, 100)
                .mapToObj(i -> "other-" + i)
                .filter(name -> serverOf(name) != master)
                .findFirst()
                .orElseThrow();
        RedisLockBackend confirming = RedisLockBackend.clusterBuilder(
                        List.of(RedisURI.create(cluster.masters().get(0).uri())))
                .confirmGrants(1, Duration.ofSeconds(1))
                .build();
        try (RedisReplicas replicas = RedisReplicas.of(master.server, 1)) {
            LockClaim confirmed = Store.claim(withReplica);
            assertThat(Store.answer(confirming.tryAcquire(confirmed))).isInstanceOf(LockAttempt.Acquired.class);
            assertThat(Store.answer(confirming.release(confirmed))).isEqualTo(Ownership.HELD);
            assertThat(replicas.replicas()).hasSize(1);
        }
        LockClaim unconfirmed = Store.claim(without);
        assertThatThrownBy(() -> Store.answer(confirming.tryAcquire(unconfirmed)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("0 of 1 replicas");
        assertThat(Store.answer(confirming.release(unconfirmed))).isEqualTo(Ownership.HELD);
        Store.end(confirming);
    }

    @Test
    void anUnreachableServerFailsOnlyItsOwnLocksAndComesBack() {
        RedisServer away = cluster.masters().get(2);
        String lost = nameAt(2);
        String kept = nameAt(0);
        Store.answer(acquiredOfAll(backend, List.of(lost)));
        away.stop();
        LockBackendException failure = failure(backend, Store.claim(lost));
        assertThat(failure.isTransient()).as(failure.getMessage()).isTrue();
        assertThat(Store.answer(backend.tryAcquire(Store.claim(kept)))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(another.tryAcquire(Store.claim(kept)))).isInstanceOf(LockAttempt.Contended.class);

        away.restart();
        Mono<LockAttempt> again = backend.tryAcquire(Store.claim(lost)).retryWhen(WHILE_IT_CONNECTS);
        assertThat(Store.answer(again)).isInstanceOf(LockAttempt.Acquired.class);
    }

    @Test
    void documentedAclIsEnough() {
        for (Store store : stores) {
            store.user("locker", RedisErrorsIT.DOCUMENTED_ACL + " +cluster|slots +asking");
        }
        RedisURI limited =
                RedisURI.builder(uri(0)).withAuthentication("locker", "any").build();
        RedisLockBackend restricted = RedisLockBackend.cluster(List.of(limited));
        assertThat(Store.answer(acquiredOfAll(restricted, names(20)))).isEqualTo(20);
        assertThat(restricted.ping().toFuture()).succeedsWithin(Duration.ofSeconds(10));
        Store.end(restricted);
    }

    @Test
    void pingIsAnsweredByTheCluster() {
        assertThat(backend.ping().toFuture()).succeedsWithin(Duration.ofSeconds(10));
    }

    @Test
    void aStandaloneAddressOfAClusterSaysWhatToUse() {
        RedisLockBackend standalone = RedisLockBackend.create(uri(0));
        LockBackendException failure = failure(standalone.tryAcquire(Store.claim(nameAt(1))));
        assertThat(failure).hasMessageContaining("RedisLockBackend.cluster");
        assertThat(failure.isTransient()).isFalse();
        Store.end(standalone);
    }

    @Test
    void seedsThatAreNoClusterAreRefused() {
        RedisURI sentinels = RedisURI.create("redis-sentinel://localhost:26379#mymaster");
        RedisURI database = RedisURI.create("redis://localhost/3");
        assertThatThrownBy(() -> RedisLockBackend.cluster(List.of())).hasMessageContaining("at least one");
        assertThatThrownBy(() -> RedisLockBackend.cluster(List.of(sentinels))).hasMessageContaining("not sentinels");
        assertThatThrownBy(() -> RedisLockBackend.cluster(List.of(database))).hasMessageContaining("was 3");
    }

    /** Moves a slot as redis-cli does: key by key. */
    private static void move(int slot, Store from, Store to) {
        to.redis().clusterSetSlotImporting(slot, from.redis().clusterMyId());
        from.redis().clusterSetSlotMigrating(slot, to.redis().clusterMyId());
        List<String> keys = from.redis().clusterGetKeysInSlot(slot, 10);
        while (!keys.isEmpty()) {
            keys.forEach(key -> migrate(from, to, key));
            keys = from.redis().clusterGetKeysInSlot(slot, 10);
        }
        own(slot, to);
    }

    /** Empties the slot first: no server gives away a slot that it has keys of. */
    private static void giveBack(int slot, Store from, Store to) {
        empty(from);
        empty(to);
        own(slot, to);
    }

    private static void empty(Store store) {
        assertThat(store.redis().flushall()).isEqualTo("OK");
    }

    @CanIgnoreReturnValue
    private static LockClaim queued(RedisLockBackend by, String name) {
        LockClaim waiter = Store.claim(name, Waiting.QUEUE);
        // Ends with its back end.
        Disposable unusedWatch = by.watch(waiter).subscribe();
        assertThat(Store.answer(by.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        return waiter;
    }

    private static long queueOf(String name) {
        return Store.waiting(serverOf(name).redis(), Store.holderKey(name));
    }

    /** Counts the clients with a channel there: its name may come with a hash tag and without. */
    private static long channelsAt(Store store) {
        return store.redis().pubsubChannels().stream()
                .map(channel -> channel.replaceFirst("\\{.*", ""))
                .distinct()
                .count();
    }

    private static <S extends WatchSignal> S nextOf(BlockingQueue<WatchSignal> signals, Class<S> kind)
            throws InterruptedException {
        while (true) {
            WatchSignal signal = signals.poll(10, TimeUnit.SECONDS);
            assertThat(signal).as("a signal within 10 s, wanted " + kind).isNotNull();
            if (kind.isInstance(signal)) {
                return kind.cast(signal);
            }
        }
    }

    private static void migrate(Store from, Store to, String key) {
        assertThat(from.redis().migrate("127.0.0.1", to.server.port(), key, 0, 5_000))
                .isEqualTo("OK");
    }

    private static void own(int slot, Store owner) {
        String id = owner.redis().clusterMyId();
        // The new owner first: otherwise the old one would pass the slot on.
        List<Store> all = new ArrayList<>(stores);
        all.remove(owner);
        all.add(0, owner);
        all.forEach(
                store -> assertThat(store.redis().clusterSetSlotNode(slot, id)).isEqualTo("OK"));
    }

    private static Mono<Long> acquiredOfAll(RedisLockBackend by, List<String> names) {
        return Flux.fromIterable(names)
                .flatMap(name -> by.tryAcquire(Store.claim(name)), names.size())
                .filter(LockAttempt.Acquired.class::isInstance)
                .count();
    }

    private static List<String> names(int count) {
        long run = System.nanoTime();
        return IntStream.range(0, count).mapToObj(i -> "lock-" + run + "-" + i).toList();
    }

    private static String nameAt(int server) {
        return names(100).stream()
                .filter(name -> stores.indexOf(serverOf(name)) == server)
                .findFirst()
                .orElseThrow();
    }

    private static Store serverOf(String name) {
        // As the test kit distributes the slots.
        return stores.get(slotOf(name) * 3 / SlotHash.SLOT_COUNT);
    }

    private static int slotOf(String name) {
        return SlotHash.getSlot(Store.holderKey(name).getBytes(StandardCharsets.UTF_8));
    }

    private static LockBackendException failure(RedisLockBackend by, LockClaim claim) {
        return failure(by.tryAcquire(claim));
    }

    private static LockBackendException failure(Mono<?> question) {
        LockBackendException failure = catchThrowableOfType(LockBackendException.class, () -> Store.answer(question));
        assertThat(failure).as("a failure").isNotNull();
        return failure;
    }
}
