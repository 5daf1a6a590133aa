package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.Printable;
import io.holdfast.testkit.server.TcpProxy;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What an operator sees of locks in PostgreSQL. Inspecting changes nothing. */
class R2dbcLockInspectorIT {

    private static final Duration LEASE = Duration.ofSeconds(30);

    /** The first page is full, and the last one is not. */
    private static final int MORE_THAN_TWO_PAGES = 1_100;

    private static final String MANY =
            "insert into holdfast_lock select 'cart/' || lpad(n::text, 5, '0'), 'mutex', 0, 4 * n, 'claim' || n, 1, clock_timestamp() + interval '1 hour'"
                    + " from generate_series(1, %d) n".formatted(MORE_THAN_TWO_PAGES);

    private static Store store;

    private final AtomicInteger connections = new AtomicInteger();
    private final List<Disposable> watches = new ArrayList<>();
    private R2dbcLockBackend backend;
    private R2dbcLockInspector inspector;

    /** Counts the connections: one for each request. */
    private record Counting(ConnectionFactory delegate, AtomicInteger count) implements ConnectionFactory {

        @Override
        public Publisher<? extends Connection> create() {
            return Mono.<Connection>from(delegate.create()).doOnSubscribe(asked -> count.incrementAndGet());
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return delegate.getMetadata();
        }
    }

    @BeforeAll
    static void start() {
        store = Store.start();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @BeforeEach
    void open() {
        backend = R2dbcLockBackend.create(store.connections());
        inspector = R2dbcLockBackend.builder(new Counting(store.connections(), connections))
                .inspector();
    }

    @AfterEach
    void end() {
        watches.forEach(Disposable::dispose);
        Store.end(backend);
        store.execute("truncate holdfast_lock, holdfast_waiter, holdfast_tombstone");
    }

    @ParameterizedTest
    @EnumSource
    void holdersAndWaitersAreShownInTheirOrder(LockKind kind) {
        LockClaim holder = claim(kind, "orders", Waiting.NONE);
        long token = held(holder);
        LockKind last = kind == LockKind.READ ? LockKind.WRITE : kind;
        LockClaim first = queued(claim(last, "orders", Waiting.QUEUE));
        // Until its client listens, a waiter of a shared lock is set aside by the next one.
        eventually(() -> isListening(only("orders").waiters().get(0)));
        LockClaim second = queued(claim(last, "orders", Waiting.QUEUE));

        LockReport report = only("orders");

        assertThat(report.name()).isEqualTo("orders");
        assertThat(report.isHeld()).isTrue();
        assertThat(report.lastToken()).isEqualTo(OptionalLong.of(token));
        assertThat(report.holders()).singleElement().satisfies(it -> {
            assertThat(it.claimId()).isEqualTo(holder.id());
            assertThat(it.kind()).isEqualTo(kind);
            assertThat(it.fencingToken()).isEqualTo(token);
            assertThat(it.remaining().orElseThrow()).isPositive().isLessThanOrEqualTo(LEASE);
            assertThat(it.held().orElseThrow()).isPositive().isLessThan(LEASE);
            assertThat(Instant.parse(it.details().get("since"))).isNotNull();
        });
        assertThat(report.waiterCount()).isEqualTo(2);
        assertThat(report.waiters()).extracting(LockWaiter::claimId).containsExactly(first.id(), second.id());
        assertThat(report.waiters()).allSatisfy(it -> {
            assertThat(it.kind()).isEqualTo(last);
            assertThat(it.details())
                    .containsEntry("lease", Printable.duration(LEASE))
                    .containsKey("last attempt")
                    .doesNotContainKey("stale")
                    .hasEntrySatisfying(
                            "channel", channel -> assertThat(channel).startsWith("holdfast_"));
        });
        assertThat(inspector.all().collectList().block(Store.PATIENCE))
                .extracting(LockReport::name)
                .containsExactly("orders");
    }

    @Test
    void locksOfOneNameAreDistinguished() {
        for (LockKind kind : List.of(LockKind.MUTEX, LockKind.WRITE, LockKind.SEMAPHORE)) {
            held(claim(kind, "orders", Waiting.NONE));
        }

        assertThat(inspector.inspect("orders").collectList().block(Store.PATIENCE))
                .extracting(LockReport::type)
                .containsExactlyInAnyOrder(LockReport.Type.values());
        assertThat(connections).as("questions").hasValue(1);
    }

    @Test
    void waitersOfALivingAndOfADeadClientAreDistinguished() {
        held(claim(LockKind.MUTEX, "orders", Waiting.NONE));
        LockClaim living = queued(claim(LockKind.MUTEX, "orders", Waiting.QUEUE));
        eventually(() -> isListening(only("orders").waiters().get(0)));
        store.execute(
                "insert into holdfast_waiter (name, kind, id, place, mode, permits, attempt, lease_ms, looked_at, channel, hash)"
                        + " values ('orders', 'mutex', 'dead', 'q', 'mutex', 1, 1, 30000, clock_timestamp() - interval '20 s', 'gone', 0),"
                        + " ('orders', 'mutex', 'aside', 's', 'mutex', 1, 1, 30000, clock_timestamp(), 'gone', 0),"
                        + " ('orders', 'mutex', 'hint', 'w', 'mutex', 1, 1, 30000, clock_timestamp(), 'gone', 0)");

        LockReport report = only("orders");

        assertThat(report.waiters()).extracting(LockWaiter::claimId).containsExactly(living.id(), "dead");
        assertThat(report.waiters())
                .extracting(R2dbcLockInspectorIT::isListening)
                .containsExactly(true, false);
        assertThat(report.waiters())
                .extracting(it -> it.details().containsKey("stale"))
                .containsExactly(false, true);
        assertThat(report.waiterCount()).isEqualTo(2);
        assertThat(report.details())
                .containsEntry("want a hint", "1")
                .hasEntrySatisfying("aside", it -> assertThat(it).startsWith("1,"));
    }

    @Test
    void onlyTheHeadOfALongListIsNamed() {
        held(claim(LockKind.MUTEX, "orders", Waiting.NONE));
        store.execute(
                "insert into holdfast_waiter (name, kind, id, place, mode, permits, attempt, lease_ms, looked_at, channel, hash)"
                        + " select 'orders', 'mutex', 'w' || n, 'q', 'mutex', 1, 1, 30000, clock_timestamp(), 'gone', 0"
                        + " from generate_series(1, 10000) n");
        store.execute("insert into holdfast_lock values ('orders', 'semaphore', 0, 6, null, 0, '-infinity')");
        store.execute(
                "insert into holdfast_lock select 'orders', 'semaphore', 4 * n + 6, 4 * n + 6, 'p' || n, 1, clock_timestamp() + n * interval '1 min'"
                        + " from generate_series(1, 1000) n");

        List<LockReport> both = inspector.inspect("orders").collectList().block(Store.PATIENCE);

        assertThat(both)
                .satisfiesExactly(
                        mutex -> {
                            assertThat(mutex.waiterCount()).isEqualTo(10_000);
                            assertThat(mutex.waiters())
                                    .extracting(LockWaiter::claimId)
                                    .containsExactly("w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10");
                        },
                        semaphore -> {
                            assertThat(semaphore.holderCount()).isEqualTo(1_000);
                            assertThat(semaphore.holders())
                                    .hasSize(LockReport.MOST_HOLDERS)
                                    .first()
                                    .satisfies(it -> assertThat(it.claimId()).isEqualTo("p1"));
                        });
    }

    /** A release leaves the last token. An expired lease holds nothing, although its row has a holder. */
    @Test
    void freeLockHasItsLastTokenAndIsSkippedInTheListOfAll() {
        LockClaim over = claim(LockKind.MUTEX, "orders", Waiting.NONE);
        long token = held(over);
        run(backend.release(over));
        held(claim(LockKind.MUTEX, "expired", Waiting.NONE));
        store.execute(
                "update holdfast_lock set expires_at = clock_timestamp() - interval '1 s' where name = 'expired'");

        assertThat(only("orders").isHeld()).isFalse();
        assertThat(only("orders").lastToken()).hasValue(token);
        assertThat(only("expired").holders()).isEmpty();
        assertThat(inspector.all().collectList().block(Store.PATIENCE)).isEmpty();
        assertThat(inspector.inspect("never").collectList().block(Store.PATIENCE))
                .isEmpty();
    }

    /** In that case a token is not the time of its grant. */
    @Test
    void sinceIsUnknownAfterTheClockWasSetBack() {
        held(claim(LockKind.MUTEX, "orders", Waiting.NONE));
        store.execute("update holdfast_lock set token = token + 4000000000");

        assertThat(only("orders").holders()).singleElement().satisfies(it -> {
            assertThat(it.details()).doesNotContainKey("since");
            assertThat(it.held()).isEmpty();
        });
    }

    @Test
    void inspectingWritesNothing() {
        held(claim(LockKind.READ, "orders", Waiting.NONE));
        queued(claim(LockKind.WRITE, "orders", Waiting.QUEUE));
        String rows = "select concat_ws(' ', l.xmin, l.xmax, l.ctid, l::text) from holdfast_lock l union all"
                + " select concat_ws(' ', w.xmin, w.xmax, w.ctid, w::text) from holdfast_waiter w order by 1";
        List<String> before = store.texts(rows);

        assertThat(only("orders").isHeld()).isTrue();
        assertThat(inspector.all().collectList().block(Store.PATIENCE)).hasSize(1);

        assertThat(store.texts(rows)).as("rows, with their locks").isEqualTo(before);
    }

    @Test
    void listOfAllHasEachLockOnceInTheOrderOfNames() {
        store.execute(MANY);
        store.execute("insert into holdfast_lock select 'free/' || n, 'mutex', 0, 4 * n, null, 1, clock_timestamp()"
                + " from generate_series(1, 600) n");

        List<String> names = inspector.all().map(LockReport::name).collectList().block(Store.PATIENCE);

        assertThat(names)
                .isEqualTo(IntStream.rangeClosed(1, MORE_THAN_TWO_PAGES)
                        .mapToObj("cart/%05d"::formatted)
                        .toList());
        assertThat(connections).as("pages").hasValue(4);
    }

    @Test
    void pagesAreReadOnRequestAndNotAfterACancel() {
        store.execute(MANY);

        StepVerifier.create(inspector.all(), 0)
                .expectSubscription()
                .then(() -> assertThat(connections).hasValue(0))
                .thenRequest(1)
                .expectNextCount(1)
                .thenRequest(20)
                .expectNextCount(20)
                .thenCancel()
                .verify(Store.PATIENCE);

        assertThat(connections).hasValueLessThanOrEqualTo(2);
        eventually(() -> inspectorConnections() == 0);
        assertThat(connections).hasValueLessThanOrEqualTo(2);
    }

    @Test
    void everyCharacterOfANameIsReadBack() {
        List<String> names = new ArrayList<>(List.of("{}", "%41", "a*b?[c]\\", "🔒/鍵", "' or 1 = 1", "$1"));
        IntStream.concat(IntStream.range(0, 300), IntStream.of(0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10FFFF))
                .mapToObj(c -> "x" + Character.toString(c) + "y")
                .forEach(names::add);
        names.forEach(name -> held(claim(LockKind.MUTEX, name, Waiting.NONE)));

        assertThat(inspector.all().map(LockReport::name).collectList().block(Store.PATIENCE))
                .containsExactlyInAnyOrderElementsOf(names);
        for (String name : names.subList(0, 20)) {
            assertThat(only(name).name()).isEqualTo(name);
        }
        assertThatThrownBy(() -> inspector.inspect(" ")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theRightsOfTheJavadocAreEnoughAndEachIsNeeded() {
        held(claim(LockKind.MUTEX, "orders", Waiting.NONE));
        store.execute(
                "create role operator login; grant select on holdfast_lock, holdfast_holders, holdfast_waiters to operator");
        R2dbcLockInspector restricted =
                R2dbcLockBackend.builder(store.connections("operator")).inspector();
        assertThat(run(restricted.inspect("orders").single()).isHeld()).isTrue();
        assertThat(run(restricted.all().count())).isOne();
        LockReport seen = run(restricted.inspect("orders").single());
        assertThatThrownBy(() ->
                        run(restricted.breakHold(seen.name(), seen.holders().get(0))))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("lacks a right");

        for (String table : List.of("holdfast_lock", "holdfast_holders", "holdfast_waiters")) {
            store.execute("revoke select on %s from operator".formatted(table));
            assertThatThrownBy(() -> run(restricted.all().count()))
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            error -> assertThat(error.isTransient()).isFalse())
                    .hasMessageContaining("inspect locks")
                    .hasMessageContaining("lacks a right");
            store.execute("grant select on %s to operator".formatted(table));
        }
        store.execute("drop owned by operator; drop role operator");
    }

    @Test
    void inspectorUsesTheSchemaOfTheBuilder() {
        R2dbcLockInspector elsewhere =
                R2dbcLockBackend.builder(store.connections()).schema("nowhere").inspector();

        assertThatThrownBy(() -> run(elsewhere.inspect("orders").count()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("inspect 'orders' in PostgreSQL failed")
                .hasMessageContaining("holdfast-1.sql");
    }

    @Test
    void unreachableServerIsReported() throws Exception {
        int nothing;
        try (ServerSocket free = new ServerSocket(0)) {
            nothing = free.getLocalPort();
        }
        R2dbcLockInspector lost =
                R2dbcLockBackend.builder(store.connections("postgres", nothing)).inspector();

        for (Flux<?> question : List.of(lost.inspect("orders"), lost.all())) {
            assertThatThrownBy(() -> run(question.count()))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("nothing listens there");
        }
    }

    @Test
    void hangingServerFailsTheRequestAfterTheTimeLimit() {
        try (TcpProxy proxy = TcpProxy.to(store.server().host(), store.server().port())) {
            R2dbcLockInspector impatient = R2dbcLockBackend.builder(store.connections("postgres", proxy.port()))
                    .replyTimeout(Duration.ofMillis(300))
                    .inspector();
            assertThat(run(impatient.inspect("orders").count())).isZero();
            proxy.drop(TcpProxy.Direction.TO_CLIENT);

            for (Flux<?> question : List.of(impatient.inspect("orders"), impatient.all())) {
                assertThatThrownBy(() -> run(question.count()))
                        .isInstanceOf(LockBackendException.class)
                        .hasMessageContaining("the server did not answer");
            }
        }
    }

    @Test
    void subscriberThatCancelsAtAnyMomentLeavesNoConnection() {
        for (int i = 0; i < 40; i++) {
            Disposable leaving = inspector.all().subscribe();
            run(Mono.delay(Duration.ofMillis(i / 2)));
            leaving.dispose();
        }
        eventually(() -> inspectorConnections() == 0);
    }

    private static long inspectorConnections() {
        return store.texts("select 1 from pg_stat_activity where application_name = 'holdfast inspector'")
                .size();
    }

    /** Polls, because the state of a real server is the subject. */
    private static void eventually(BooleanSupplier condition) {
        long end = System.nanoTime() + Store.PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("patience").isNegative();
        }
    }

    private LockReport only(String name) {
        return run(inspector.inspect(name).single());
    }

    private static LockClaim claim(LockKind kind, String name, Waiting waiting) {
        return LockClaim.first(LockKey.of(kind, name), UUID.randomUUID().toString(), LEASE, waiting);
    }

    @CanIgnoreReturnValue
    private long held(LockClaim claim) {
        LockAttempt answer = run(backend.tryAcquire(claim));
        assertThat(answer).isInstanceOf(LockAttempt.Acquired.class);
        return ((LockAttempt.Acquired) answer).fencingToken();
    }

    @CanIgnoreReturnValue
    private LockClaim queued(LockClaim waiter) {
        watches.add(backend.watch(waiter).subscribe());
        assertThat(run(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        return waiter;
    }

    @CanIgnoreReturnValue
    private static <T> T run(Mono<T> work) {
        return work.block(Store.PATIENCE);
    }

    private static boolean isListening(LockWaiter waiter) {
        return "yes".equals(waiter.details().get("listening"));
    }
}
