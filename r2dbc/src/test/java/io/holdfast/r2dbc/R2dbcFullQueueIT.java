package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The server's queue of notifications is full: a program listens, and keeps a transaction open. */
class R2dbcFullQueueIT {

    private static final LockOptions PATIENT =
            LockOptions.builder().waitTimeout(Duration.ofSeconds(20)).build();

    @Test
    void locksAreHandedOffWithoutNotificationsAndKeepTheirConnections() {
        try (Store store = Store.withSettings("max_notify_queue_pages=64")) {
            R2dbcLockBackend one = R2dbcLockBackend.create(store.connections());
            R2dbcLockBackend two = R2dbcLockBackend.create(store.connections());
            LockClient locks = LockClient.create(one);
            LockClient other = LockClient.create(two);
            Connection blocker = store.connect();
            execute(blocker, "listen blocker");
            run(blocker.beginTransaction());
            execute(blocker, "select 1");
            fill(store);

            LockLease held = run(locks.lock("full").acquire());
            CompletableFuture<LockLease> waiting =
                    other.lock("full").with(PATIENT).acquire().toFuture();
            Store.eventually(() -> store.leftovers().size() == 2);
            String session = store.texts("select min(pid) from pg_stat_activity where application_name = 'holdfast'")
                    .get(0);
            run(held.release());
            LockLease next = Mono.fromFuture(waiting).block(Store.PATIENCE);
            assertThat(store.texts("select min(pid) from pg_stat_activity where application_name = 'holdfast'")
                            .get(0))
                    .isEqualTo(session);
            run(next.release());
            run(blocker.close());
            run(locks.close());
            run(other.close());
            Store.end(one);
            Store.end(two);
        }
    }

    private static void fill(Store store) {
        String flood = "select pg_notify('flood', repeat('x', 7000) || i) from generate_series(1, 20) i";
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 1_000; i++) {
                        store.execute(flood);
                    }
                })
                .isInstanceOfSatisfying(
                        R2dbcException.class,
                        error -> assertThat(error.getSqlState()).isEqualTo("54000"));
        for (int bytes = 3_000; bytes > 0; bytes /= 2) {
            try {
                for (int i = 0; i < 100; i++) {
                    store.execute("select pg_notify('flood', repeat('x', %d) || '%d')".formatted(bytes, i));
                }
            } catch (R2dbcException full) {
                // The next messages are shorter.
            }
        }
    }

    private static void execute(Connection open, String sql) {
        run(Flux.from(open.createStatement(sql).execute())
                .concatMap(result -> result.getRowsUpdated())
                .then());
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
