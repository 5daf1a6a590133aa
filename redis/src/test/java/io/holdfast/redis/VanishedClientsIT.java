package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.server.TcpProxy;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Many waiters of clients that vanish without a word: the host loses power, the network drops every packet, or the
 * process stops. The server still counts their channels. One such client costs the living waiter behind it two claim
 * times at most, however many of its claims wait, and k clients cost k + 1.
 */
class VanishedClientsIT {

    private static final Duration CLAIM_TIME = Duration.ofMillis(500);

    /** Additional time for a machine that is busy; far less than the third of a lease that one more attempt would take. */
    private static final Duration SLACK = Duration.ofMillis(1_500);

    private static final String NAME = "orders";

    private Store store;
    private final List<LockClient> clients = new ArrayList<>();
    private final List<TcpProxy> proxies = new ArrayList<>();

    @BeforeEach
    void start() {
        store = Store.start();
    }

    @AfterEach
    void stop() {
        proxies.forEach(TcpProxy::close);
        await(Flux.fromIterable(clients)
                .flatMap(LockClient::close, 64)
                .then()); // those that are cut off wait for an answer
        store.close();
    }

    static Stream<Arguments> kindsAndCounts() {
        return Stream.of(LockKind.MUTEX, LockKind.WRITE, LockKind.SEMAPHORE)
                .flatMap(kind -> Stream.of(1, 1_000).map(count -> Arguments.of(kind, count)));
    }

    @ParameterizedTest
    @MethodSource("kindsAndCounts")
    void waitersOfAClientThatIsCutOffCostTwoClaimTimes(LockKind kind, int waiters) {
        LockClient living = client(store.uri());
        LockLease holder = await(lock(living, kind).acquire());
        LockClient vanishing = behindAProxy();
        enqueue(vanishing, kind, waiters);
        waiting(kind, waiters);
        CompletableFuture<LockLease> next = lock(living, kind).acquire().toFuture();
        waiting(kind, waiters + 1);
        heard(2);
        vanish();

        expect(holder, next, 1, "%s behind %d waiters of a host that is cut off".formatted(kind, waiters));
        LockLease again = lock(living, kind)
                .acquire()
                .toFuture()
                .orTimeout(5, TimeUnit.SECONDS)
                .join();
        await(again.release());
    }

    /** Neither the next waiter nor the last one is of another client. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void aLivingWaiterInTheMiddleOfThoseThatAreCutOffWaitsForTwoClaimTimes(LockKind kind) {
        LockClient living = client(store.uri());
        LockLease holder = await(lock(living, kind).acquire());
        LockClient vanishing = behindAProxy();
        enqueue(vanishing, kind, 500);
        waiting(kind, 500);
        CompletableFuture<LockLease> next = lock(living, kind).acquire().toFuture();
        waiting(kind, 501);
        enqueue(vanishing, kind, 500);
        waiting(kind, 1_001);
        heard(2);
        vanish();

        expect(holder, next, 1, kind + " in the middle of 1 000 waiters of a host that is cut off");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void waitersInTurnsOfFiveClientsThatAreCutOffCostSixClaimTimes(LockKind kind) {
        LockClient living = client(store.uri());
        LockLease holder = await(lock(living, kind).acquire());
        List<LockClient> vanishing =
                Stream.generate(this::behindAProxy).limit(5).toList();
        for (int i = 1; i <= 100; i++) {
            lock(vanishing.get(i % 5), kind).acquire().subscribe(lease -> {}, error -> {});
            waiting(kind, i);
        }
        CompletableFuture<LockLease> next = lock(living, kind).acquire().toFuture();
        waiting(kind, 101);
        heard(6);
        vanish();

        expect(holder, next, 5, kind + " behind 100 waiters of five hosts, in turns");
    }

    /** The first two send attempts within a claim time, and both have vanished. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void oneWaiterOfEachOfFiveClientsThatAreCutOffCostsSixClaimTimes(LockKind kind) {
        LockClient living = client(store.uri());
        LockLease holder = await(lock(living, kind).acquire());
        for (int i = 1; i <= 5; i++) {
            enqueue(behindAProxy(), kind, 1);
            waiting(kind, i);
        }
        CompletableFuture<LockLease> next = lock(living, kind).acquire().toFuture();
        waiting(kind, 6);
        long now = store.micros();
        eventually(() -> store.micros() > now + CLAIM_TIME.toNanos() / 500); // it has sent another attempt
        heard(6);
        vanish();

        expect(holder, next, 5, kind + " behind a waiter of each of five hosts");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void blocksOfWaitersOfFiveClientsThatAreCutOffCostSixClaimTimes(LockKind kind) {
        LockClient living = client(store.uri());
        LockLease holder = await(lock(living, kind).acquire());
        for (int i = 1; i <= 5; i++) {
            LockClient vanishing = behindAProxy();
            for (int n = 0; n < 200; n++) {
                lock(vanishing, kind).acquire().subscribe(lease -> {}, error -> {});
            }
            waiting(kind, 200 * i);
        }
        CompletableFuture<LockLease> next = lock(living, kind).acquire().toFuture();
        waiting(kind, 1_001);
        heard(6);
        vanish();

        expect(holder, next, 5, kind + " behind 1 000 waiters of five hosts, one host after the other");
    }

    /** The usual hand-offs of a mutex take waiters from a list at its front. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void waitersThatVanishWhileTheLockChangesHandsQuicklyCostTwoClaimTimes(LockKind kind) {
        LockClient living = client(store.uri());
        LockLease holder = await(lock(living, kind).acquire());
        List<CompletableFuture<Integer>> before = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            before.add(lock(living, kind).withLock(Mono.just(i)).toFuture());
            waiting(kind, i + 1);
        }
        LockClient vanishing = behindAProxy();
        enqueue(vanishing, kind, 50);
        waiting(kind, 80);
        CompletableFuture<LockLease> next = lock(living, kind).acquire().toFuture();
        waiting(kind, 81);
        heard(2);
        vanish();

        expect(holder, next, 1, kind + " behind 30 quick holders and 50 waiters of a host that is cut off");
        assertThat(before).allMatch(CompletableFuture::isDone);
    }

    @ParameterizedTest
    @MethodSource("kindsAndCounts")
    void waitersOfAStoppedProcessCostTwoClaimTimes(LockKind kind, int waiters) {
        LockClient living = client(store.uri());
        LockLease holder = await(lock(living, kind).acquire());
        try (WaitingProcess hanging = WaitingProcess.start(store.uri(), kind, NAME, waiters, CLAIM_TIME)) {
            waiting(kind, waiters);
            CompletableFuture<LockLease> next = lock(living, kind).acquire().toFuture();
            waiting(kind, waiters + 1);
            heard(2);
            hanging.freeze();
            waiting(kind, waiters + 1); // the server has read what the process sent before

            expect(holder, next, 1, "%s behind %d waiters of a stopped process".formatted(kind, waiters));
        }
    }

    @ParameterizedTest
    @MethodSource("kindsAndCounts")
    void waitersOfAKilledProcessCostNothing(LockKind kind, int waiters) {
        LockClient living = client(store.uri());
        LockLease holder = await(lock(living, kind).acquire());
        try (WaitingProcess dying = WaitingProcess.start(store.uri(), kind, NAME, waiters, CLAIM_TIME)) {
            waiting(kind, waiters);
            CompletableFuture<LockLease> next = lock(living, kind).acquire().toFuture();
            waiting(kind, waiters + 1);
            heard(2);
            dying.kill();
            heard(1);

            expect(holder, next, 0, "%s behind %d waiters of a killed process".formatted(kind, waiters));
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void aProcessThatWasStoppedForAWhileHasItsPlacesBackSoon(LockKind kind) {
        LockClient living = client(store.uri());
        LockLease holder = await(lock(living, kind).acquire());
        try (WaitingProcess hanging = WaitingProcess.start(store.uri(), kind, NAME, 100, CLAIM_TIME)) {
            waiting(kind, 100);
            CompletableFuture<LockLease> next = lock(living, kind).acquire().toFuture();
            waiting(kind, 101);
            heard(2);
            hanging.freeze();
            waiting(kind, 101); // the server has read what the process sent before
            await(holder.release());
            LockLease served = next.orTimeout(10, TimeUnit.SECONDS).join();
            assertThat(queued(kind)).isZero();

            hanging.thaw();

            eventually(() -> queued(kind) == 100); // far sooner than a third of the lease
            await(served.release());
        }
    }

    private void expect(LockLease holder, CompletableFuture<LockLease> next, int vanished, String what) {
        Duration delay;
        LockLease lease;
        try (RunningTime time = RunningTime.start()) {
            await(holder.release());
            lease = next.orTimeout(60, TimeUnit.SECONDS).join();
            delay = time.soFar();
            System.out.printf(
                    "[holdfast] %s: %d ms, stalled for %d ms%n", what, delay.toMillis(), time.stalledMillis());
        }
        assertThat(delay)
                .as(what)
                .isLessThan(CLAIM_TIME.multipliedBy(vanished + 1).plus(SLACK));
        await(lease.release());
    }

    private static void enqueue(LockClient client, LockKind kind, int waiters) {
        for (int i = 0; i < waiters; i++) {
            lock(client, kind).acquire().subscribe(lease -> {}, error -> {});
        }
    }

    private static ReactiveLock lock(LockClient client, LockKind kind) {
        return WaitingProcess.lock(client, kind, NAME);
    }

    private LockClient behindAProxy() {
        TcpProxy proxy = TcpProxy.inFrontOf(store.server);
        proxies.add(proxy);
        return client(RedisURI.create(proxy.host(), proxy.port()));
    }

    /** No byte passes any more, and no connection ends: half-open, as the server sees it. */
    private void vanish() {
        proxies.forEach(proxy -> proxy.drop(TcpProxy.Direction.values()));
    }

    private long queued(LockKind kind) {
        return Store.waiting(store.redis(), Store.holderKey(LockKey.of(kind, NAME)));
    }

    private void waiting(LockKind kind, int count) {
        eventually(() -> queued(kind) == count);
    }

    /**
     * Waits until this many clients listen and have sent the attempts that follow: an attempt that the server reads after
     * the grant would confirm it.
     */
    private void heard(int channels) {
        eventually(() -> store.redis().pubsubChannels().size() == channels);
        eventually(() -> {
            long calls = store.calls("evalsha");
            ClientOverRedis.pause(Duration.ofMillis(100));
            return store.calls("evalsha") == calls;
        });
    }

    private LockClient client(RedisURI uri) {
        LockClient client = LockClient.create(
                RedisLockBackend.builder(uri).claimTime(CLAIM_TIME).build());
        clients.add(client);
        return client;
    }
}
