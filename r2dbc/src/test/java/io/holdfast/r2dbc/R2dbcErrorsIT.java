package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.postgresql.PostgresDialect;
import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The errors when the database is not ready for locks, and the rights that are enough. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class R2dbcErrorsIT {

    private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("io.holdfast.r2dbc.R2dbcLockBackend");

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    private Store store;
    private R2dbcLockBackend backend;

    /** Creates a database without the schema. */
    Store newStore() {
        return Store.empty();
    }

    @BeforeAll
    void start() {
        store = newStore();
    }

    @AfterAll
    void stop() {
        if (store != null) {
            store.close();
        }
    }

    @BeforeEach
    void listenToTheLog() {
        log.list.clear();
        log.start();
        LOGGER.addAppender(log);
    }

    @AfterEach
    void end() {
        LOGGER.detachAppender(log);
        Store.end(backend);
        store.execute("drop schema public cascade; create schema public; grant usage on schema public to public");
    }

    @Test
    void missingSchemaErrorNamesTheFileToRun() {
        backend = R2dbcLockBackend.create(store.connections());
        assertThatThrownBy(() -> run(LockClient.create(backend).lock("stock/42").tryAcquire()))
                .hasRootCauseInstanceOf(io.r2dbc.spi.R2dbcException.class)
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.isTransient()).isFalse())
                .hasMessageContaining("stock/42")
                .hasMessageContaining("holdfast-1.sql")
                .hasMessageContaining("if holdfast_schema has a version above 1, upgrade this client");
    }

    @Test
    void schemaThatIsCreatedLaterIsFound() {
        backend = R2dbcLockBackend.create(store.connections());
        assertThatThrownBy(() -> run(backend.ping())).isInstanceOf(LockBackendException.class);
        store.execute(Store.schema());
        run(backend.ping());
    }

    @Test
    void schemaOfItsOwnIsFoundByItsName() {
        store.execute("drop schema if exists \"Locks\" cascade; create schema \"Locks\"; set search_path to \"Locks\"; "
                + Store.schema());
        backend = R2dbcLockBackend.builder(store.connections()).schema("Locks").build();
        LockLease lease = run(LockClient.create(backend).lock("stock/42").acquire());
        assertThat(store.texts("select name from \"Locks\".holdfast_lock")).containsExactly("stock/42");
        run(lease.release());
        store.execute("drop schema \"Locks\" cascade");
    }

    /** Uses the grants of the page for a schema of its own, and the search path for the fence. */
    @Test
    void fenceFindsASchemaOfItsOwnByTheSearchPathOfTheUser() {
        store.execute("create schema locks; set search_path to locks; " + Store.schema());
        store.execute("create role seller login; grant usage on schema locks to seller;"
                + " grant select, insert, update, delete on locks.holdfast_lock, locks.holdfast_waiter, locks.holdfast_tombstone to seller;"
                + " grant select, update on locks.holdfast_schema to seller");
        backend = R2dbcLockBackend.builder(store.connections("seller"))
                .schema("locks")
                .build();
        LockLease lease = run(LockClient.create(backend).lock("stock/42").acquire());

        assertThatThrownBy(() -> fence(lease))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("stock/42")
                .hasMessageContaining(
                        "the fence cannot find holdfast_fence_v1 of the schema of Holdfast: name that schema in Fence.check")
                .hasCauseInstanceOf(io.r2dbc.spi.R2dbcException.class);
        store.execute("alter role seller set search_path = public, locks");
        fence(lease);
        run(lease.release());
        store.execute("drop schema locks cascade; drop owned by seller; drop role seller");
    }

    private void fence(LockLease lease) {
        Connection data =
                Mono.<Connection>from(store.connections("seller").create()).block(Store.PATIENCE);
        run(data.beginTransaction());
        try {
            run(Fence.check(data, lease));
        } finally {
            run(data.rollbackTransaction());
            run(data.close());
        }
    }

    @Test
    void missingUsageOfASchemaIsReported() {
        store.execute("create schema apart; set search_path to apart; " + Store.schema());
        store.execute("create role visitor login; grant all on all tables in schema apart to visitor");
        backend = R2dbcLockBackend.builder(store.connections("visitor"))
                .schema("apart")
                .build();
        assertThatThrownBy(() -> run(LockClient.create(backend).lock("stock/42").tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("the user has no usage on it");
        store.execute("drop schema apart cascade; drop owned by visitor; drop role visitor");
    }

    @Test
    void failedPingNamesNoLock() {
        backend = R2dbcLockBackend.create(store.connections());
        assertThatThrownBy(() -> run(backend.ping()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.lockName()).isEmpty())
                .hasMessageStartingWith("ping in PostgreSQL failed: ");
    }

    @Test
    void replicaIsReportedAsAReplica() {
        store.execute(Store.schema());
        store.execute(
                "drop role if exists reader; create role reader login; alter role reader set default_transaction_read_only to on;"
                        + " grant all on all tables in schema public to reader");
        backend = R2dbcLockBackend.create(store.connections("reader"));
        assertThatThrownBy(() -> run(LockClient.create(backend).lock("stock/42").tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("connect to the primary");
        store.execute("drop owned by reader; drop role reader");
    }

    /** Grants the rights of the documentation. */
    @Test
    void theseRightsAreEnough() {
        store.execute(Store.schema());
        store.execute("create role shop login;"
                + " grant select, insert, update, delete on holdfast_lock, holdfast_waiter, holdfast_tombstone to shop;"
                + " grant select, update on holdfast_schema to shop;"
                + " revoke execute on all routines in schema public from public;"
                + " grant execute on all routines in schema public to shop");
        backend = R2dbcLockBackend.create(store.connections("shop"));
        LockClient locks = LockClient.create(backend);
        LockLease lease = run(locks.lock("stock/42").acquire());
        run(lease.renew());
        Connection data =
                Mono.<Connection>from(store.connections("shop").create()).block(Store.PATIENCE);
        run(data.beginTransaction());
        run(Fence.check(data, lease));
        run(data.commitTransaction());
        run(data.close());
        run(lease.release());
        run(locks.semaphore("stock/42", 2).withLock(permit -> Mono.just(1)));
        run(locks.close());
        store.execute("drop owned by shop; drop role shop");
    }

    @Test
    void missingRightIsReported() {
        store.execute(Store.schema());
        store.execute("create role guest login");
        backend = R2dbcLockBackend.create(store.connections("guest"));
        assertThatThrownBy(() -> run(LockClient.create(backend).lock("stock/42").tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("the user lacks a right");
        store.execute("drop role guest");
    }

    @Test
    void databaseWithAnotherEncodingIsNamedAsTheCause() {
        store.execute("create database latin encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0");
        try {
            backend =
                    R2dbcLockBackend.create(new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
                            .host(store.server().host())
                            .port(store.server().port())
                            .username(PostgresServer.USER)
                            .database("latin")
                            .build()));
            assertThatThrownBy(() ->
                            run(LockClient.create(backend).lock("stock/42").tryAcquire()))
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            error -> assertThat(error.isTransient()).isFalse())
                    .hasMessageContaining("the encoding of the database is LATIN1");
        } finally {
            Store.end(backend);
            store.execute("drop database latin with (force)");
        }
    }

    /** The server is no replica. */
    @Test
    void userWhoseTransactionsAreReadOnlyIsNamedAsACause() {
        store.execute(Store.schema());
        store.execute(
                "create role reader login; grant select, insert, update, delete on all tables in schema public to reader;"
                        + " alter role reader set default_transaction_read_only = on");
        backend = R2dbcLockBackend.create(store.connections("reader"));
        assertThatThrownBy(() -> run(LockClient.create(backend).lock("stock/42").tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("default_transaction_read_only is on for the server, the database or the user");
        store.execute("drop owned by reader; drop role reader");
    }

    /** Else the server would keep the session, and count its client as living, for two hours by default. */
    @Test
    void serverFindsOutWithinHalfAMinuteThatTheHostOfAClientIsGone() {
        store.execute(Store.schema());
        Connection connection = store.connect();
        run(new PostgresDialect().prepare(connection, new SessionSettings(null, Duration.ofSeconds(2))));
        String settings = Flux.from(connection
                        .createStatement(
                                "select concat_ws(' ', current_setting('tcp_keepalives_idle'), current_setting('tcp_keepalives_interval'), current_setting('tcp_keepalives_count'), current_setting('tcp_user_timeout'))")
                        .execute())
                .concatMap(result -> result.map(row -> row.get(0, String.class)))
                .blockLast(Store.PATIENCE);
        run(connection.close());
        assertThat(settings).isEqualTo("10 5 3 20000");
    }

    /** A lock without a claim in the last day leaves no row. A lock that was held today keeps its row, for its token. */
    @Test
    void sweepDeletesOutdatedRows() {
        store.execute(Store.schema());
        backend = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(backend);
        run(locks.lock("old").withLock(lease -> Mono.just(1)));
        run(locks.lock("new").withLock(lease -> Mono.just(1)));
        store.execute(
                "update holdfast_lock set token = token - 90000000000, expires_at = expires_at - interval '25 hours' where name = 'old'");
        store.execute("insert into holdfast_tombstone values ('gone', clock_timestamp() - interval '1 s')");
        assertThat(store.texts("select holdfast_sweep_v1()")).containsExactly("true");
        assertThat(store.texts("select name from holdfast_lock")).containsExactly("new");
        assertThat(store.texts("select id from holdfast_tombstone")).isEmpty();
        assertThat(store.texts("select holdfast_sweep_v1()"))
                .as("once a minute")
                .containsExactly("false");
        run(locks.close());
    }

    /** Clients sweep by themselves. */
    @Test
    void busyClientSweeps() {
        store.execute(Store.schema());
        backend = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(backend);
        for (int i = 0; i < 64; i++) {
            run(locks.lock("busy").withLock(lease -> Mono.just(1)));
        }
        long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (store.texts("select 1 from holdfast_schema where swept_at > '-infinity'")
                .isEmpty()) {
            assertThat(System.nanoTime() - end).isNegative();
        }
        run(locks.close());
    }

    /** Change data capture often publishes all tables. The server refuses updates of a published table without a key. */
    @Test
    void sweepGoesOnBesideAPublicationForAllTables() {
        store.execute(Store.schema(), "create publication everything for all tables");
        try {
            assertThat(store.texts("select holdfast_sweep_v1()")).containsExactly("true");
        } finally {
            store.execute("drop publication everything");
        }
    }

    @Test
    void failedSweepIsLoggedAndKeepsItsConnection() {
        store.execute(Store.schema(), "drop function holdfast_sweep_v1", """
                create function holdfast_sweep_v1() returns boolean language plpgsql as $$
                begin raise exception 'no sweep today' using errcode = '55000'; end $$""");
        backend = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(backend);
        for (int i = 0; i < 64; i++) {
            run(locks.lock("busy").withLock(lease -> Mono.just(1)));
        }
        Store.eventually(() -> !log.list.isEmpty());
        assertThat(log.list)
                .singleElement()
                .hasToString(
                        "[WARN] outdated rows of locks are not deleted, so their tables grow: the driver reported an error that this library does not know. Driver: no sweep today");
        assertThat(store.clientConnections()).isEqualTo(2);
        run(locks.close());
    }

    /** The user may have one connection, which is that for calls. */
    @Test
    void lostListeningConnectionThatCannotBeMadeAgainIsLoggedOnceUntilItIs() {
        store.execute(Store.schema());
        store.execute(
                "create role crowded login;"
                        + " grant select, insert, update, delete on holdfast_lock, holdfast_waiter, holdfast_tombstone to crowded");
        AtomicInteger made = new AtomicInteger();
        backend = R2dbcLockBackend.create(counted(store.connections("crowded"), made));
        LockClient locks = LockClient.create(backend);
        LockLease held = run(locks.lock("stock/42").acquire());
        CompletableFuture<LockLease> waiting = locks.lock("stock/42").acquire().toFuture();
        for (int outage = 1; outage <= 2; outage++) {
            Store.eventually(() -> store.listeners() == 1);
            int lines = outage;
            int before = made.get();
            store.execute("alter role crowded connection limit 1");
            store.execute("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'");
            Store.eventually(() -> made.get() > before + 3);
            assertThat(log.list)
                    .hasSize(lines)
                    .allSatisfy(line -> assertThat(line.getFormattedMessage())
                            .startsWith("this client cannot listen, so its waiters get locks late: ")
                            .contains("too many connections for role"));
            store.execute("alter role crowded connection limit 10");
        }
        run(held.release());
        assertThat(waiting).succeedsWithin(Store.PATIENCE);
        run(waiting.join().release());
        run(locks.close());
        Store.end(backend);
        store.execute("drop owned by crowded; drop role crowded");
    }

    private static ConnectionFactory counted(ConnectionFactory factory, AtomicInteger made) {
        return new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                made.incrementAndGet();
                return factory.create();
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return factory.getMetadata();
            }
        };
    }

    @Test
    void lostLeaseIsReportedByTheFence() {
        store.execute(Store.schema());
        backend = R2dbcLockBackend.create(store.connections());
        LockLease lease = run(LockClient.create(backend).lock("stock/42").acquire());
        store.execute("update holdfast_lock set holder = null");
        Connection data = store.connect();
        run(data.beginTransaction());
        assertThatThrownBy(() -> run(Fence.check(data, lease)))
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("roll back, and nothing is written");
        run(data.close());
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
