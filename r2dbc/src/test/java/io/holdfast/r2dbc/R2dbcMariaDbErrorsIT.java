package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.spi.LockKey;
import io.r2dbc.spi.Connection;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** The errors when the database is not ready for locks, and the rights that are enough. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class R2dbcMariaDbErrorsIT {

    private Store store;
    private R2dbcLockBackend backend;

    /** Creates a database without the schema; MariaDB in this class. */
    Store newStore() {
        return MariaDbStore.mariaDb();
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

    @AfterEach
    void end() {
        Store.end(backend);
        store.execute("drop database holdfast", "create database holdfast");
    }

    @Test
    void missingSchemaErrorNamesTheFileToRun() {
        backend = R2dbcLockBackend.create(store.connections());
        assertThatThrownBy(() -> run(LockClient.create(backend).lock("stock/42").tryAcquire()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.isTransient()).isFalse())
                .hasMessageContaining("stock/42")
                .hasMessageContaining("in %s failed".formatted(store.product()))
                .hasMessageContaining("mariadb/holdfast-1.sql")
                .hasMessageContaining("if holdfast_schema has a version above 1, upgrade this client");
        store.addSchema();
        run(backend.ping());
        assertThat(backend.name()).isEqualTo(store.product().toLowerCase(Locale.ROOT));
    }

    @Test
    void databaseOfItsOwnIsFoundByItsName() {
        store.execute("create database `Locks of all`");
        backend = R2dbcLockBackend.builder(store.connections())
                .schema("Locks of all")
                .build();
        assertThatThrownBy(() -> run(backend.ping())).hasMessageContaining("holdfast-1.sql");
        store.execute("drop database `Locks of all`");
    }

    /** Grants the rights of the documentation. */
    @Test
    void theseRightsAreEnough() {
        store.addSchema();
        store.execute("create user app");
        store.execute("grant execute on holdfast.* to app");
        for (String table : new String[] {"lock", "fence", "waiter", "tombstone", "client", "inbox"}) {
            store.execute("grant select, insert, update, delete on holdfast.holdfast_%s to app".formatted(table));
        }
        store.execute("grant select, update on holdfast.holdfast_schema to app");
        store.execute("grant select on holdfast.holdfast_holders to app");
        store.execute("grant select on holdfast.holdfast_waiters to app");
        backend = R2dbcLockBackend.create(store.connections("app"));
        LockClient locks = LockClient.create(backend);
        LockLease lease = run(locks.lock("stock/42").acquire());
        run(lease.renew());
        assertThat(run(backend.holders(LockKey.of(LockKind.MUTEX, "stock/42")).single())
                        .fencingToken())
                .isEqualTo(lease.fencingToken());
        Connection data =
                Mono.<Connection>from(store.connections("app").create()).block(Store.PATIENCE);
        run(data.beginTransaction());
        run(Fence.check(data, lease));
        run(data.commitTransaction());
        run(data.close());
        run(lease.release());
        run(locks.semaphore("stock/42", 2).withLock(permit -> Mono.just(1)));
        run(locks.close());
        store.execute("drop user app");
    }

    @Test
    void missingRightIsReported() {
        store.addSchema();
        store.execute("create user guest");
        store.execute("grant select on holdfast.holdfast_lock to guest");
        backend = R2dbcLockBackend.create(store.connections("guest"));
        assertThatThrownBy(() -> run(LockClient.create(backend).lock("stock/42").tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("the user lacks a right");
        store.execute("drop user guest");
    }

    @Test
    void serverThatTakesNoWritesIsReported() {
        store.addSchema();
        store.execute("create user reader");
        store.execute("grant select, insert, update, delete, execute on holdfast.* to reader");
        store.execute("set global read_only = on");
        backend = R2dbcLockBackend.create(store.connections("reader"));
        assertThatThrownBy(() -> run(LockClient.create(backend).lock("stock/42").tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("connect to the primary");
        store.execute("set global read_only = off");
        store.execute("drop user reader");
    }

    /** To a user without rights to it, the server does not say whether a database exists. */
    @Test
    void unknownDatabaseIsNamedAsACause() {
        store.execute("create user guest");
        backend = R2dbcLockBackend.builder(store.connections("guest"))
                .schema("unknown")
                .build();
        assertThatThrownBy(() -> run(LockClient.create(backend).lock("stock/42").tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("there is no such database, or the user has no right to it");
        store.execute("drop user guest");
    }

    /** A lock without a claim in the last day leaves no row. A lock that was held today keeps its row, for its token. */
    @Test
    void sweepDeletesOutdatedRows() {
        store.addSchema();
        backend = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(backend);
        run(locks.lock("old").withLock(lease -> Mono.just(1)));
        run(locks.lock("new").withLock(lease -> Mono.just(1)));
        store.execute(
                "update holdfast_lock set token = token - 90000000000, expires_us = expires_us - 90000000000 where name = 'old'");
        store.execute("insert into holdfast_tombstone values ('gone', 1)");
        assertThat(store.texts("call holdfast_sweep_v1()")).containsExactly("1");
        assertThat(store.texts("select convert(name using utf8mb4) from holdfast_lock"))
                .containsExactly("new");
        assertThat(store.texts("select convert(name using utf8mb4) from holdfast_fence"))
                .containsExactly("new");
        assertThat(store.texts("select id from holdfast_tombstone")).isEmpty();
        assertThat(store.texts("call holdfast_sweep_v1()")).as("once a minute").containsExactly("0");
        run(locks.close());
    }

    /** Runs the statements of the page on MariaDB. */
    @Test
    void leaseEndedByAnOperatorIsReportedByTheFence() {
        store.addSchema();
        backend = R2dbcLockBackend.create(store.connections());
        LockLease lease = run(LockClient.create(backend).lock("stock/42").acquire());
        store.execute(
                "update holdfast_lock set holder = null, expires_us = 0 where name = 'stock/42' and kind = 'mutex' and holder is not null");
        store.execute("update holdfast_fence set token = 0 where name = 'stock/42' and slot = 0");
        Connection data = store.connect();
        run(data.beginTransaction());
        assertThatThrownBy(() -> run(Fence.check(data, lease)))
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("roll back, and nothing is written");
        run(data.close());
    }

    @Test
    void fenceWithoutItsTableNamesTheTable() {
        store.addSchema();
        backend = R2dbcLockBackend.create(store.connections());
        LockLease lease = run(LockClient.create(backend).lock("stock/42").acquire());
        store.execute("rename table holdfast_fence to elsewhere");
        Connection data = store.connect();
        run(data.beginTransaction());
        assertThatThrownBy(() -> run(Fence.check(data, lease)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("the fence cannot find holdfast_fence_v1")
                .hasMessageContaining("holdfast_fence' doesn't exist");
        run(data.close());
        store.execute("rename table elsewhere to holdfast_fence");
        run(lease.release());
    }

    @Test
    void lockWhoseFenceWasDeletedByHandIsGrantedAgain() {
        store.addSchema();
        backend = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(backend);
        run(locks.lock("stock/42").withLock(lease -> Mono.just(1)));
        run(locks.semaphore("stock/42", 1).acquire());
        store.execute("delete from holdfast_fence");
        store.execute("update holdfast_lock set expires_us = 0");
        LockLease lease = run(locks.lock("stock/42").acquire());
        assertThat(run(locks.semaphore("stock/42", 1).tryAcquire())).isNotNull();
        Connection data = store.connect();
        run(data.beginTransaction());
        run(Fence.check(data, lease));
        run(data.rollbackTransaction());
        run(data.close());
        run(locks.close());
    }

    /** No collation makes two of these names the same lock, and the longest name fits. */
    @Test
    void namesAreComparedAsBytes() {
        store.addSchema();
        backend = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(backend);
        for (String name : new String[] {"a", "A", "a ", "\u00e4", "a\u0308", "\0".repeat(512), "'", "\\"}) {
            run(locks.lock(name).acquire());
        }
        assertThat(store.count("select count(*) from holdfast_lock where holder is not null"))
                .isEqualTo(8);
        run(locks.close());
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
