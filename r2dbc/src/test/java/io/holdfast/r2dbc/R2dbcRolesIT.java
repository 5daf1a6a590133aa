package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Settings of the role or the database for other programs do not break locks. */
class R2dbcRolesIT {

    private static final LockOptions PATIENT =
            LockOptions.builder().waitTimeout(Duration.ofSeconds(20)).build();

    private static Store store;

    private R2dbcLockBackend backend;

    @BeforeAll
    static void start() {
        store = Store.start();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @AfterEach
    void nothingIsLeft() {
        Store.end(backend);
        store.execute("drop owned by shop; drop role shop");
        List<String> left = store.leftovers();
        store.execute("truncate holdfast_lock, holdfast_waiter");
        assertThat(left).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "default_transaction_isolation = 'serializable'",
                "statement_timeout = 500",
                "lock_timeout = 1",
                "idle_in_transaction_session_timeout = 1",
                "idle_session_timeout = 40",
                "transaction_timeout = 500"
            })
    void settingOfTheRoleDoesNotMatter(String setting) {
        store.execute("create role shop login;"
                + " grant select, insert, update, delete on holdfast_lock, holdfast_waiter, holdfast_tombstone to shop;"
                + " grant select, update on holdfast_schema to shop; alter role shop set " + setting);
        backend = R2dbcLockBackend.create(store.connections("shop"));
        LockClient locks = LockClient.create(backend);
        String name = "roles/" + UUID.randomUUID();
        LockLease held = run(locks.lock(name).acquire());
        List<Mono<Long>> waiters = Flux.range(0, 3)
                .map(i -> locks.lock(name).with(PATIENT).withLock(lease -> Mono.just(lease.fencingToken())))
                .collectList()
                .block();
        Mono<List<Long>> tokens = Flux.merge(waiters).collectList().cache();
        var unused = tokens.subscribe();
        Store.eventually(() -> store.leftovers().size() == 4 && sessions().contains(" "));
        String sessions = sessions();
        run(Mono.delay(Duration.ofMillis(150)));
        assertThat(sessions()).as("connections stay").isEqualTo(sessions).isNotEmpty();
        run(held.release());
        assertThat(run(tokens)).hasSize(3).isSorted();
        run(locks.close());
    }

    private static String sessions() {
        return store.texts("select pid from pg_stat_activity where usename = 'shop' order by pid").stream()
                .collect(Collectors.joining(" "));
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
