package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Settings of the server for other programs do not break locks. Each is the default of later sessions. */
class R2dbcMariaDbSettingsIT {

    private static final LockOptions PATIENT =
            LockOptions.builder().waitTimeout(Duration.ofSeconds(20)).build();

    private static Store store;

    @BeforeAll
    static void start() {
        store = Store.withSchema(MariaDbStore.mariaDb());
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @ParameterizedTest
    @CsvSource({
        "tx_isolation, 'SERIALIZABLE'",
        "autocommit, 0",
        "innodb_lock_wait_timeout, 1",
        "lock_wait_timeout, 1",
        "max_statement_time, 0.5",
        "idle_transaction_timeout, 1",
        "wait_timeout, 1",
        "sql_mode, 'ANSI,TRADITIONAL'",
        "sql_mode, 'NO_BACKSLASH_ESCAPES'",
        "sql_mode, ''",
        "time_zone, '+05:30'",
        "completion_type, 1"
    })
    void settingOfTheServerDoesNotMatter(String variable, String value) {
        String before = store.texts("select @@global." + variable).get(0);
        store.execute("set global %s = %s".formatted(variable, value.matches("[0-9.]+") ? value : "'" + value + "'"));
        R2dbcLockBackend backend = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(backend);
        String name = "settings/" + UUID.randomUUID();
        try {
            LockLease held = run(locks.lock(name).acquire());
            Mono<List<Long>> tokens = Flux.range(0, 3)
                    .flatMap(i -> locks.lock(name).with(PATIENT).withLock(lease -> Mono.just(lease.fencingToken())))
                    .collectList()
                    .cache();
            var unused = tokens.subscribe();
            Store.eventually(() -> store.leftovers().size() == 4);
            run(Mono.delay(Duration.ofMillis(1_500))); // longer than the time limits above
            run(held.release());
            assertThat(run(tokens)).hasSize(3).isSorted();
            run(locks.semaphore(name, 2).withLock(permit -> Mono.just(1)));
        } finally {
            run(locks.close());
            Store.end(backend);
            store.execute(
                    "set global %s = %s".formatted(variable, before.matches("[0-9.]+") ? before : "'" + before + "'"));
        }
        assertThat(store.leftovers()).isEmpty();
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
