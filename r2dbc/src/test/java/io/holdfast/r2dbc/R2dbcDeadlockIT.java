package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.Result;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A deadlock with another program. PostgreSQL ends the transaction whose {@code deadlock_timeout} is over first; MariaDB chooses by itself. */
class R2dbcDeadlockIT {

    private static final String LOCK = "select 1 from holdfast_lock where name = 'deadlock' and ";

    /** Two transactions wait for each other. The client's call waits only for a moment, so that it is undone first, and is sent again. */
    @Test
    void callThatMeetsADeadlockIsUndoneAndSentAgain() {
        try (Store store = Store.withSettings("deadlock_timeout=1500")) {
            R2dbcLockBackend backend = R2dbcLockBackend.builder(store.connections())
                    .replyTimeout(Duration.ofSeconds(4))
                    .build();
            Connection locker = store.connect();
            meets(store, backend, locker);
            run(locker.close());
            Store.end(backend);
            assertThat(store.leftovers()).isEmpty();
        }
    }

    private static void meets(Store store, R2dbcLockBackend backend, Connection locker) {
        run(locker.beginTransaction());
        LockClaim reader =
                LockClaim.first(LockKey.of(LockKind.READ, "deadlock"), "reader", Duration.ofSeconds(30), Waiting.NONE);
        run(backend.tryAcquire(reader));
        execute(locker, "set local deadlock_timeout = '20 s'"); // so the server does not end this one
        execute(locker, LOCK + "slot > 0 for update");
        CompletableFuture<Ownership> release = backend.release(reader).toFuture();
        Store.eventually(store::hasBlockedCall);
        execute(locker, LOCK + "slot = 0 for update");
        run(locker.rollbackTransaction());
        assertThat(release).succeedsWithin(Store.PATIENCE).isEqualTo(Ownership.HELD);
        assertThat(store.texts("select 1 from pg_stat_database where deadlocks > 0"))
                .isEmpty();
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
