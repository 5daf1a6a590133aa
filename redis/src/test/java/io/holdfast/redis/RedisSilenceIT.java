package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static io.holdfast.redis.ClientOverRedis.pause;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisURI;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/**
 * Connections at a standalone server that are dead although neither side closed them: the client detects them, and
 * replaces them.
 */
class RedisSilenceIT {

    private static final Duration LEASE = Duration.ofSeconds(6);
    private static final Duration OPERATION = Duration.ofSeconds(1);

    /** A waiter sends an attempt by itself after a third of its lease, or at the latest after the claim time. */
    private static final LockOptions SELDOM =
            LockOptions.builder().leaseDuration(Duration.ofMinutes(1)).build();

    private static final Duration CLAIM_TIME = Duration.ofSeconds(3);

    /**
     * A connection that is dead without being closed costs a waiter the claim time and the time limit of its attempt. The rest is for a machine that is busy.
     */
    private static final Duration SOON = CLAIM_TIME.plusSeconds(5);

    /** The number of the client's connection. */
    private static final int FIRST = 1;

    private Store store;
    private TcpProxy proxy;
    private AttemptsUnderWay attempts;
    private LockClient client;
    private LockClient rival;

    @BeforeEach
    void start() {
        store = Store.start();
        proxy = TcpProxy.inFrontOf(store.server);
        attempts = new AttemptsUnderWay(
                RedisLockBackend.builder(RedisURI.create(proxy.host(), proxy.port()))
                        .claimTime(CLAIM_TIME)
                        .build(),
                signal -> {});
        client = client(attempts);
        rival = client(RedisLockBackend.create(store.uri()));
        eventually(() -> answers(client) && answers(rival));
    }

    private static LockClient client(LockBackend backend) {
        return LockClient.builder(backend)
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .operationTimeout(OPERATION)
                .build();
    }

    @AfterEach
    void nothingIsLeftInTheStore() {
        await(client.close());
        await(rival.close());
        assertThat(store.leftovers()).isEmpty();
        proxy.close();
        store.close();
    }

    @Test
    void aCancelledSubscriberIsNotKeptUntilTheConnectionIsReplaced() {
        await(await(client.lock("orders").acquire()).release()); // the server knows the scripts from now on
        LockClaim claim = Store.claim("not answered");
        proxy.dropOn(FIRST, Direction.TO_CLIENT);
        WeakReference<Object> waited = cancelledAttempt(claim);
        for (int i = 0; i < 5 && waited.get() != null; i++) {
            System.gc();
        }
        assertThat(waited.get()).as("while the driver still waits").isNull();
        proxy.pass();
        Store.answer(attempts.release(claim).retry());
    }

    private WeakReference<Object> cancelledAttempt(LockClaim claim) {
        BaseSubscriber<LockAttempt> waiting = new BaseSubscriber<>() {};
        long sent = proxy.bytes(Direction.TO_SERVER);
        attempts.tryAcquire(claim).subscribe(waiting);
        eventually(() -> proxy.bytes(Direction.TO_SERVER) > sent);
        waiting.cancel();
        return new WeakReference<>(waiting);
    }

    static Stream<Named<Direction[]>> ways() {
        return Stream.of(
                Named.of("both ways", Direction.values()),
                Named.of("to the server", new Direction[] {Direction.TO_SERVER}),
                Named.of("to the client", new Direction[] {Direction.TO_CLIENT}));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aHolderOutlivesASilentConnection(Direction[] ways) {
        LockLease lease = await(client.lock("orders").acquire());
        proxy.dropOn(FIRST, ways);

        Duration thatOnlyARenewalGives = LEASE.multipliedBy(3).dividedBy(4);
        eventually(() -> proxy.connections() > 1 && lease.remaining().compareTo(thatOnlyARenewalGives) > 0);

        assertThat(lease.isValid()).isTrue();
        assertThat(proxy.connections()).as("one new connection").isEqualTo(2);
        await(lease.release());
        await(await(rival.lock("orders").acquire()).release());
    }

    @ParameterizedTest
    @MethodSource("ways")
    void anAcquireOnASilentConnectionCostsOneOperationTimeout(Direction[] ways) {
        proxy.dropOn(FIRST, ways);
        CompletableFuture<LockLease> lease = client.lock("orders").acquire().toFuture();
        await(await(Mono.fromFuture(lease)).release());
        assertThat(attempts.givenUp()).as("cancelled attempts").isEqualTo(1);
        assertThat(proxy.connections()).isEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aHealthCheckDetectsASilentConnectionToo(Direction[] ways) {
        proxy.dropOn(FIRST, ways);
        assertThatThrownBy(() -> await(client.ping())).isInstanceOf(LockBackendException.class);
        eventually(() -> answers(client));
        assertThat(proxy.connections()).isEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("ways")
    void operationsWithAShortTimeoutDetectASilentConnectionToo(Direction[] ways) {
        LockOptions brief =
                LockOptions.builder().leaseDuration(Duration.ofMillis(200)).build();
        LockClient hasty = LockClient.builder(RedisLockBackend.create(RedisURI.create(proxy.host(), proxy.port())))
                .options(brief)
                .operationTimeout(Duration.ofMillis(40))
                .build();
        eventually(() -> answers(hasty));
        proxy.dropOnOpen(ways);
        LockOptions patient =
                brief.toBuilder().waitTimeout(Duration.ofSeconds(10)).build();
        CompletableFuture<LockLease> lease =
                hasty.lock("orders").with(patient).acquire().toFuture();
        await(await(Mono.fromFuture(lease)).release().onErrorComplete());
        await(hasty.close());
    }

    /**
     * The client may lose the connection if this thread or the driver's had to wait for the machine; but not again and
     * again.
     */
    @Test
    void anAnswerThatComesTooLateIsASignOfLife() {
        RedisLockBackend backend = RedisLockBackend.create(RedisURI.create(proxy.host(), proxy.port()));
        Store.answer(backend.ping());
        LockClaim claim = Store.claim("late");
        AtomicInteger kept = new AtomicInteger();
        eventually(() -> {
            long connections = proxy.connections();
            answerTooLate(backend, claim);
            pause(Duration.ofMillis(150)); // longer than a silence
            Store.answer(backend.ping());
            return proxy.connections() == connections && kept.incrementAndGet() == 2;
        });
        Store.answer(backend.release(claim));
        Store.end(backend);
    }

    private void answerTooLate(RedisLockBackend backend, LockClaim claim) {
        long sent = proxy.bytes(Direction.TO_SERVER);
        long answered = proxy.bytes(Direction.TO_CLIENT);
        proxy.delay(Direction.TO_CLIENT, Duration.ofDays(1));
        Disposable attempt = backend.tryAcquire(claim).subscribe();
        eventually(() -> proxy.bytes(Direction.TO_SERVER) > sent);
        attempt.dispose();
        proxy.pass(Direction.TO_CLIENT);
        eventually(() -> proxy.bytes(Direction.TO_CLIENT) > answered);
    }

    private static boolean answers(LockClient client) {
        try {
            await(client.ping());
            return true;
        } catch (LockBackendException notYet) {
            return false;
        }
    }

    @Test
    void aServerThatDoesNotAnswerGetsOneNewConnectionAtATime() {
        LockLease lease = await(client.lock("orders").acquire());
        proxy.drop(Direction.values());
        pause(LEASE.dividedBy(3).plus(OPERATION.multipliedBy(3)));
        assertThat(proxy.connections()).isLessThanOrEqualTo(3);
        proxy.pass();
        proxy.cut();
        eventually(() -> renews(lease));
        await(lease.release());
    }

    private static boolean renews(LockLease lease) {
        try {
            await(lease.renew());
            return true;
        } catch (LockBackendException notYet) {
            return false;
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aWaiterWhoseConnectionIsSilentHasTheLockSoonAfterTheRelease(Direction[] ways) {
        LockLease held = held();
        CompletableFuture<LockLease> waiter = waiting();
        proxy.dropOn(FIRST, ways);

        await(held.release());

        assertThat(waiter).succeedsWithin(SOON);
        await(waiter.join().release());
    }

    /** The server still counts the dead connection as a receiver. */
    @Test
    void aConnectionThatReplacesADeadOneHasItsChannel() {
        LockLease held = held();
        CompletableFuture<LockLease> waiter = waiting();
        proxy.dropOn(FIRST, Direction.values());

        eventually(() -> store.redis().pubsubChannels().stream()
                .anyMatch(channel -> store.redis().pubsubNumsub(channel).get(channel) == 2));

        await(held.release());
        assertThat(waiter).succeedsWithin(SOON);
        await(waiter.join().release());
    }

    @Test
    void aWaiterWhoseChannelIsKilledHasTheLockSoonAfterTheRelease() {
        LockLease held = held();
        CompletableFuture<LockLease> waiter = waiting();
        assertThat(store.redis().clientKill(KillArgs.Builder.typePubsub())).isEqualTo(2);

        await(held.release());

        assertThat(waiter).succeedsWithin(SOON);
        await(waiter.join().release());
    }

    @Test
    void aWaiterWhoseChannelIsCutAgainAndAgainHasTheLockSoonAfterTheRelease() {
        LockLease held = held();
        CompletableFuture<LockLease> waiter = waiting();
        for (int i = 0; i < 5; i++) {
            assertThat(store.redis().clientKill(KillArgs.Builder.typePubsub())).isLessThanOrEqualTo(2);
            pause(Duration.ofMillis(20));
        }

        await(held.release());

        assertThat(waiter).succeedsWithin(SOON);
        await(waiter.join().release());
    }

    @Test
    void aSubscriptionThatFailedAfterAReconnectIsRepeatedLater() {
        store.user("default", "on nopass ~* &* +@all");
        LockLease held = held();
        CompletableFuture<LockLease> waiter = waiting();
        store.user("default", "on nopass ~* &* +@all -subscribe");
        assertThat(store.redis().clientKill(KillArgs.Builder.typePubsub())).isEqualTo(2);
        Pattern refused = Pattern.compile("cmdstat_subscribe:.*rejected_calls=[1-9]");
        eventually(() -> refused.matcher(store.redis().info("commandstats")).find());
        store.user("default", "on nopass ~* &* +@all");

        eventually(() -> store.redis().pubsubChannels().size() == 2);
        await(held.release());
        assertThat(waiter).succeedsWithin(SOON);
        await(waiter.join().release());
    }

    /** A long script of another program refuses it, too, if the client replaces its connection meanwhile. */
    @Test
    void aSubscriptionThatFailedOnANewConnectionIsRepeatedLater() {
        store.user("default", "on nopass ~* &* +@all -subscribe");
        LockClient late = client(RedisLockBackend.create(store.uri()));
        eventually(() -> answers(late));
        assertThat(store.redis().pubsubChannels()).as("of the other clients").hasSize(2);
        store.user("default", "on nopass ~* &* +@all");

        eventually(() -> store.redis().pubsubChannels().size() == 3);
        LockLease held = held();
        CompletableFuture<LockLease> waiter =
                late.lock("orders").with(SELDOM).acquire().toFuture();
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == 1);
        await(held.release());
        assertThat(waiter).succeedsWithin(SOON);
        await(waiter.join().release());
        await(late.close());
    }

    @Test
    void aServerThatStallsDoesNotMakeAllWaitersTryAgain() {
        LockLease held = held();
        List<CompletableFuture<LockLease>> waiters = new ArrayList<>();
        waiters.add(waiting()); // opens the channel: later waiters send one attempt, and then get a message
        for (int i = 1; i < 100; i++) {
            waiters.add(client.lock("orders").with(SELDOM).acquire().toFuture());
        }
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == 100);
        assertThat(store.redis().configResetstat()).isEqualTo("OK");

        store.server.pause();
        pause(OPERATION.minusMillis(100));
        store.server.resume();
        pause(OPERATION);

        assertThat(store.calls("evalsha")).as("attempts").isLessThan(50);
        await(client.close());
        assertThat(waiters).allMatch(CompletableFuture::isCompletedExceptionally);
        await(held.release());
    }

    private LockLease held() {
        return await(rival.lock("orders").with(SELDOM).acquire());
    }

    private CompletableFuture<LockLease> waiting() {
        return waiting(client.lock("orders").with(SELDOM));
    }

    private CompletableFuture<LockLease> waiting(ReactiveLock lock) {
        CompletableFuture<LockLease> waiter = lock.acquire().toFuture();
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == 1
                && !store.redis().pubsubChannels().isEmpty()
                && proxy.connections() == FIRST
                && attempts.areOver(1));
        return waiter;
    }
}
