package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.testkit.ExclusionProbe;
import io.holdfast.testkit.server.TcpProxy;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.ValidationDepth;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Connections and servers end at a bad moment. After each test no claim holds or waits. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class R2dbcFaultsIT {

    private static final Duration LONG = Duration.ofSeconds(30);

    /** Three of these fit into a lease. */
    private static final Duration LONG_ANSWER = Duration.ofSeconds(10);

    private static final LockOptions PATIENT =
            LockOptions.builder().waitTimeout(Duration.ofSeconds(20)).build();

    Store store;
    TcpProxy proxy;

    private String name;
    private R2dbcLockBackend backend;
    private R2dbcLockBackend behindProxy;

    /** The connections of both clients since the last test. */
    private final List<Connection> opened = new CopyOnWriteArrayList<>();

    /** Creates the database; PostgreSQL in this class. */
    Store newStore() {
        return Store.start();
    }

    @BeforeAll
    void start() {
        store = newStore();
        proxy = TcpProxy.to(store.server().host(), store.server().port());
    }

    @AfterAll
    void stop() {
        if (store != null) {
            proxy.close();
            store.close();
        }
    }

    @BeforeEach
    void create() {
        name = "faults/" + UUID.randomUUID();
        opened.clear();
        backend = builder(store.server().port());
        behindProxy = builder(proxy.port());
    }

    private R2dbcLockBackend builder(int port) {
        return builder(port, Duration.ofMillis(300));
    }

    R2dbcLockBackend builder(int port, Duration claimTime) {
        return R2dbcLockBackend.builder(noting(store.connectionsBy(port), opened))
                .claimTime(claimTime)
                .replyTimeout(store.replyTimeout())
                .build();
    }

    @AfterEach
    void nothingIsLeft() {
        proxy.pass();
        Store.end(behindProxy);
        Store.end(backend);
        eventually(() -> store.clientConnections() == 0);
        eventually(() -> areClosed(opened));
        assertThat(store.leftovers()).isEmpty();
    }

    @Test
    void callAfterAnIdleConnectionWasKilledGoesThrough() {
        List<Connection> made = new CopyOnWriteArrayList<>();
        R2dbcLockBackend noting = R2dbcLockBackend.create(noting(store.connections(), made));
        LockClaim claim = claim(Waiting.NONE);
        run(noting.tryAcquire(claim));
        killAndNotice(made);
        assertThat(run(noting.renew(claim))).isInstanceOf(Renewal.Held.class);
        killAndNotice(made);
        assertThat(run(noting.release(claim))).isEqualTo(Ownership.HELD);
        Store.end(noting);
    }

    private static ConnectionFactory noting(ConnectionFactory factory, List<Connection> made) {
        return new ConnectionFactory() {
            @Override
            public Publisher<Connection> create() {
                return Mono.<Connection>from(factory.create()).doOnNext(made::add);
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return factory.getMetadata();
            }
        };
    }

    private void killAndNotice(List<Connection> made) {
        store.killClientConnections();
        eventually(() -> areClosed(made));
    }

    private static boolean areClosed(List<Connection> made) {
        return made.stream().noneMatch(it -> run(it.validate(ValidationDepth.LOCAL)));
    }

    /**
     * The server ends the connection while the call waits for a row. Nothing was changed, but the client cannot know that. A call waits for a
     * moment only and tries again, so the connection is ended again and again until the call has failed.
     */
    @Test
    void killBeforeTheCommitIsUnknownAndLeavesNothing() {
        LockClaim claim = claim(Waiting.NONE);
        run(backend.tryAcquire(claim));
        run(backend.release(claim));
        Connection locker = store.connect();
        run(locker.beginTransaction());
        lockRow(locker);

        LockClaim second = claim(Waiting.NONE);
        R2dbcLockBackend tenacious = R2dbcLockBackend.builder(store.connections())
                .replyTimeout(Store.PATIENCE)
                .build();
        AtomicBoolean isOver = new AtomicBoolean();
        Mono<LockAttempt> attempt = tenacious
                .tryAcquire(second)
                .doOnTerminate(() -> isOver.set(true))
                .cache();
        Disposable unused = attempt.subscribe(answer -> {}, error -> {});
        eventually(() -> {
            if (store.hasBlockedCall()) {
                store.killClientConnections();
            }
            return isOver.get();
        });
        assertThatThrownBy(() -> run(attempt)).isInstanceOfSatisfying(LockBackendException.class, error -> {
            assertThat(error.isTransient()).isTrue();
            assertThat(error).hasMessageContaining(name).hasMessageContaining("client reconnects");
        });
        run(locker.rollbackTransaction());
        run(locker.close());
        assertThat(run(tenacious.release(second).retry(2))).isEqualTo(Ownership.NOT_HELD);
        Store.end(tenacious);
    }

    /** The commit is on the disk, and the reply is lost. The same claim, sent again, finds its grant. */
    @Test
    void lostReplyAfterTheCommitIsUnknownAndFoundAgain() {
        LockClaim claim = claim(Waiting.NONE);
        run(behindProxy.ping());
        proxy.dropOnOpen(TcpProxy.Direction.TO_CLIENT);
        assertThatThrownBy(() -> run(behindProxy.tryAcquire(claim)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining(name)
                .hasMessageContaining(
                        "after %d ms".formatted(store.replyTimeout().toMillis()));
        assertThat(store.leftovers())
                .as("rows of the claim, which is granted without an answer")
                .hasSize(1);

        LockAttempt.Acquired again = (LockAttempt.Acquired) run(behindProxy.tryAcquire(claim.withAttempt(2)));
        assertThat(again.fencingToken())
                .isEqualTo(Long.parseLong(store.texts("select token from holdfast_lock where holder is not null")
                        .get(0)));
        assertThat(run(behindProxy.release(claim.withAttempt(2)))).isEqualTo(Ownership.HELD);
    }

    /** The reply is lost, the claim is withdrawn, and a late copy of its attempt arrives. The attempt does not take the lock. */
    @Test
    void attemptThatComesAfterItsWithdrawalTakesNothing() {
        LockClaim claim = claim(Waiting.NONE);
        run(behindProxy.ping());
        proxy.dropOnOpen(TcpProxy.Direction.TO_CLIENT);
        assertThatThrownBy(() -> run(behindProxy.tryAcquire(claim))).isInstanceOf(LockBackendException.class);
        assertThat(run(behindProxy.release(claim))).isEqualTo(Ownership.HELD);
        assertThat(run(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Contended.class);
    }

    @Test
    void renewalWhoseReplyIsLostIsUnknownAndNotALoss() {
        LockClaim claim = claim(Waiting.NONE);
        run(behindProxy.tryAcquire(claim));
        proxy.dropOnOpen(TcpProxy.Direction.TO_CLIENT);
        assertThat(run(behindProxy.renewAll(List.of(claim)).single())).isInstanceOf(Renewal.Unknown.class);
        assertThat(run(behindProxy.renew(claim))).isInstanceOf(Renewal.Held.class);
        assertThat(run(behindProxy.release(claim))).isEqualTo(Ownership.HELD);
    }

    /** The listening connection is silent but open. The waiter gets the lock by its next attempt. */
    @Test
    void grantWhoseNotificationIsLostIsFoundWithinTheClaimTime() {
        LockClient other = LockClient.create(behindProxy);
        LockClient locks = LockClient.create(backend);
        LockLease held = run(locks.lock(name).acquire());
        Mono<LockLease> waiting = other.lock(name).with(PATIENT).acquire().cache();
        Disposable unused = waiting.subscribe();
        eventually(() -> store.listeners() == 1);
        proxy.dropOnOpen(TcpProxy.Direction.TO_CLIENT);
        run(held.release());
        LockLease next = run(waiting);
        assertThat(next.isValid()).isTrue();
        run(next.release());
        run(other.close());
        run(locks.close());
    }

    @Test
    void waiterWhoseListeningConnectionIsKilledKeepsItsPlace() {
        // Long enough that no waiter is passed over, even on a slow machine.
        Duration claimTime = Duration.ofSeconds(3);
        LockClient other = LockClient.create(builder(proxy.port(), claimTime));
        LockClient locks = LockClient.create(builder(store.server().port(), claimTime));
        LockLease held = run(locks.lock(name).acquire());
        List<String> order = new ArrayList<>();
        Mono<LockLease> first = turn(other, order, "first");
        Mono<LockLease> second = turn(locks, order, "second");
        eventually(() -> store.listeners() == 2); // a connection that is still being opened would survive
        store.killClientConnections();
        // Each waiter has sent an attempt with its new channel, and its client listens there: until then, it is passed
        // over.
        eventually(() -> store.texts("select 1 from holdfast_waiter where channel like '%\\_0'")
                        .isEmpty()
                && store.listeners() == 2);
        run(held.release().retry(2));
        run(Flux.merge(first, second).flatMap(LockLease::release).then());
        assertThat(order).containsExactly("first", "second");
        run(other.close());
        run(locks.close());
    }

    private Mono<LockLease> turn(LockClient locks, List<String> order, String word) {
        int before = store.leftovers().size();
        Mono<LockLease> turn = locks.lock(name)
                .with(PATIENT)
                .acquire()
                .flatMap(lease -> {
                    synchronized (order) {
                        order.add(word);
                    }
                    return lease.release().retry(2).thenReturn(lease);
                })
                .cache();
        Disposable unused = turn.subscribe(lease -> {}, error -> {});
        eventually(() -> store.leftovers().size() > before);
        return turn;
    }

    /** The queue is unlogged, so it is empty after a crash, and the waiters enter again. Grants are still there. */
    @Test
    void crashedServerForgetsNoGrant() {
        LockClient locks = LockClient.create(backend);
        LockLease held = run(locks.lock(name).acquire());
        Mono<LockLease> waiting = locks.lock(name).with(PATIENT).acquire().cache();
        Disposable unused = waiting.subscribe(lease -> {}, error -> {});
        eventually(() -> store.leftovers().size() == 2);
        store.server().crash();
        store.server().start();
        run(held.renew().retry(20));
        assertThat(held.isValid()).isTrue();
        run(held.release().retry(2));
        LockLease next = run(waiting);
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        run(next.release());
        run(locks.close());
    }

    @Test
    void stoppedServerIsATransientErrorUntilItIsBack() {
        run(backend.ping());
        store.server().stop();
        try {
            assertThatThrownBy(() -> run(backend.ping().retry(3)))
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            error -> assertThat(error.isTransient()).isTrue())
                    .hasMessageContaining("nothing listens there");
        } finally {
            store.server().start();
        }
        run(backend.ping().retry(5));
    }

    /** A transaction of an operator, or a mistake, has locked the row of one lock. */
    @Test
    void rowLockedForLongDelaysNoOtherLock() {
        LockClaim claim = claim(Waiting.NONE);
        run(backend.tryAcquire(claim));
        Connection locker = store.connect();
        run(locker.beginTransaction());
        lockRow(locker);

        Mono<Renewal> held = backend.renew(claim).cache();
        Disposable unused = held.subscribe(answer -> {}, error -> {});
        for (int i = 0; i < 20; i++) {
            LockClaim free = LockClaim.first(LockKey.of(LockKind.MUTEX, name + i), id(), LONG, Waiting.NONE);
            assertThat(run(backend.tryAcquire(free))).isInstanceOf(LockAttempt.Acquired.class);
            assertThat(run(backend.release(free))).isEqualTo(Ownership.HELD);
        }
        assertThatThrownBy(() -> run(held))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining(store.lockedRowAdvice());
        run(locker.rollbackTransaction());
        run(locker.close());
        assertThat(run(backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    @Test
    void cancelAtAnyMomentLeavesNothing() {
        LockClient locks = LockClient.create(backend);
        LockClient other = LockClient.create(behindProxy);
        ExclusionProbe probe = ExclusionProbe.exclusive();
        Mono<Long> some = Flux.range(0, 400)
                .flatMap(
                        i -> (i % 2 == 0 ? locks : other)
                                .lock(name)
                                .with(PATIENT)
                                .withLock(lease -> probe.guard(
                                        lease.fencingToken(),
                                        Mono.delay(micros(300)).thenReturn(i)))
                                .takeUntilOther(Mono.delay(micros(i % 4 == 0 ? 20_000 : 3_000)))
                                .onErrorResume(e -> Mono.empty()),
                        40)
                .count();
        run(some);
        probe.verify();
        run(locks.close());
        run(other.close());
    }

    private static Duration micros(int most) {
        return Duration.ofNanos(1_000L * ThreadLocalRandom.current().nextInt(most));
    }

    @Test
    void closeDuringRoundTripsAnswersEachOfThem() {
        AtomicInteger answered = new AtomicInteger();
        Mono<Void> all = Flux.range(0, 300)
                .flatMap(
                        i -> {
                            LockClaim claim =
                                    LockClaim.first(LockKey.of(LockKind.MUTEX, name + i), id(), LONG, Waiting.NONE);
                            return backend.tryAcquire(claim)
                                    .then(backend.release(claim))
                                    .onErrorResume(LockBackendException.class, e -> Mono.empty())
                                    .doFinally(end -> answered.incrementAndGet());
                        },
                        300)
                .then()
                .cache();
        Disposable unused = all.subscribe();
        run(backend.close());
        run(all);
        assertThat(answered).hasValue(300);
        assertThatThrownBy(() -> run(backend.ping()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("was closed");
        // Frees locks that were granted during the close. They would end with their leases.
        store.execute("update holdfast_lock set holder = null");
    }

    /** A claim that waits shows that its client lives. */
    @Test
    void claimDoesNotTakeAFreeLockBeforeAnOlderOneOfItsClientThatWasSetAside() {
        LockClaim holder = claim(Waiting.NONE);
        LockClaim older = claim(Waiting.QUEUE);
        LockClaim newer = claim(Waiting.QUEUE);
        Disposable watches =
                Flux.merge(backend.watch(older), backend.watch(newer)).subscribe();
        run(backend.tryAcquire(holder));
        run(backend.tryAcquire(older));
        store.setAside(name);
        run(backend.release(holder));
        assertThat(run(backend.tryAcquire(newer))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(run(backend.renew(older))).isInstanceOf(Renewal.Held.class);
        run(backend.release(older));
        assertThat(run(backend.renew(newer))).isInstanceOf(Renewal.Held.class);
        run(backend.release(newer));
        watches.dispose();
    }

    @Test
    void thousandWaitersAreServedInOrderOnThreeConnections() {
        // An attempt without an answer, and a client that does not claim a grant in time, lose their order: a busy
        // machine is not what is tested here.
        R2dbcLockBackend usual = R2dbcLockBackend.builder(store.connections())
                .claimTime(Store.PATIENCE)
                .replyTimeout(LONG_ANSWER)
                .build();
        LockClient locks =
                LockClient.builder(usual).operationTimeout(LONG_ANSWER).build();
        LockLease held = run(locks.lock(name).acquire());
        AtomicInteger served = new AtomicInteger();
        List<Integer> order = new ArrayList<>();
        List<Mono<Integer>> waiters = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            int number = i;
            waiters.add(locks.lock(name)
                    .with(LockOptions.builder()
                            .waitTimeout(Store.PATIENCE.multipliedBy(3))
                            .build())
                    .withLock(lease -> Mono.fromCallable(() -> {
                        synchronized (order) {
                            order.add(number);
                        }
                        return served.incrementAndGet();
                    })));
        }
        Mono<Void> all = Flux.merge(Flux.fromIterable(waiters), 1_000).then().cache();
        Disposable unused = all.subscribe();
        eventually(() -> store.leftovers().size() == 1_001);
        run(held.release());
        all.block(Store.PATIENCE.multipliedBy(3));
        assertThat(served).hasValue(1_000);
        assertThat(order).isSorted();
        assertThat(store.clientConnections()).isLessThanOrEqualTo(3);
        run(locks.close());
        Store.end(usual);
    }

    private void lockRow(Connection locker) {
        run(Flux.from(locker.createStatement(
                                "select 1 from holdfast_lock where name = '%s' and kind = 'mutex' and slot = 0 for update"
                                        .formatted(name))
                        .execute())
                .concatMap(result -> result.map(row -> 1))
                .collectList());
    }

    LockClaim claim(Waiting waiting) {
        return LockClaim.first(LockKey.of(LockKind.MUTEX, name), id(), LONG, waiting);
    }

    private static String id() {
        return UUID.randomUUID().toString().replace("-", "");
    }

    static void eventually(BooleanSupplier condition) {
        long end = System.nanoTime() + Store.PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("in time").isNegative();
            run(Mono.delay(Duration.ofMillis(10)));
        }
    }

    @CanIgnoreReturnValue
    static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
