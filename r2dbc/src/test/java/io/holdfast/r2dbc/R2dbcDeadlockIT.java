package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.Result;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A call of a client, and a transaction that has locked rows of the locks by hand, wait for each other. Calls of clients alone cannot do so: they lock rows
 * in one order. MariaDB looks for deadlocks at once. PostgreSQL does so after a second, and by then the call has given the row up.
 * {@link FenceIT} has deadlocks of transactions that check a lease.
 */
class R2dbcDeadlockIT {

    private static final String LOCK = "select 1 from holdfast_lock where name = 'deadlock' and ";

    @Test
    void callOfAClientGivesARowUpBeforePostgresLooksForADeadlock() {
        try (Store store = Store.start()) {
            meets(store);
            assertThat(store.texts("select 1 from pg_stat_database where deadlocks > 0"))
                    .isEmpty();
        }
    }

    /** The server undoes the transaction that has changed fewer rows. */
    @Test
    void callThatADeadlockUndoesIsSentAgain() {
        try (Store store = Store.withSchema(MariaDbStore.mariaDb())) {
            store.execute("create table work_by_hand (n integer)");
            meets(store, "insert into work_by_hand values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)");
            assertThat(
                            store.count(
                                    "select variable_value from information_schema.global_status where variable_name = 'innodb_deadlocks'"))
                    .isPositive();
        }
    }

    private static void meets(Store store, String... workBefore) {
        R2dbcLockBackend backend = R2dbcLockBackend.builder(store.connections())
                .replyTimeout(Duration.ofSeconds(4))
                .build();
        Connection locker = store.connect();
        run(locker.beginTransaction(IsolationLevel.READ_COMMITTED));
        for (String work : workBefore) {
            execute(locker, work);
        }
        LockClaim reader =
                LockClaim.first(LockKey.of(LockKind.READ, "deadlock"), "reader", Duration.ofSeconds(30), Waiting.NONE);
        run(backend.tryAcquire(reader));
        execute(locker, LOCK + "slot > 0 for update");
        CompletableFuture<Ownership> release = backend.release(reader).toFuture();
        Store.eventually(store::hasBlockedCall);
        execute(locker, LOCK + "slot = 0 for update");
        run(locker.rollbackTransaction());
        assertThat(release).succeedsWithin(Store.PATIENCE).isEqualTo(Ownership.HELD);
        run(locker.close());
        Store.end(backend);
        assertThat(store.leftovers()).isEmpty();
    }

    private static void execute(Connection by, String sql) {
        run(Flux.from(by.createStatement(sql).execute())
                .concatMap(Result::getRowsUpdated)
                .then());
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
