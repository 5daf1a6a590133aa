package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.server.PgBouncer;
import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** PgBouncer between client and server, in each version that is available on this machine. */
class R2dbcPgBouncerIT {

    private static final LockOptions PATIENT =
            LockOptions.builder().waitTimeout(Store.PATIENCE).build();

    static List<String> bouncers() {
        return PgBouncer.available();
    }

    /** From 1.21 on, it hides the mistake: then the settings of a lock client are in force for other programs. */
    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("bouncers")
    void transactionModeIsNamedAsTheCauseOrSpoilsOtherSessions(String which) {
        try (Store store = Store.start();
                PgBouncer bouncer = PgBouncer.run(which, store.server(), "transaction")) {
            R2dbcLockBackend backend = behind(bouncer, store);
            R2dbcLockBackend another = behind(bouncer, store);
            try {
                run(backend.ping());
                if (bouncer.knowsPreparedStatements()) {
                    assertThat(transactionTimeout(bouncer, store)).isEqualTo("1500ms");
                } else {
                    // The second client gets the same session of the server, where the statements of the first client
                    // are prepared already.
                    assertThatThrownBy(() -> run(another.ping()))
                            .isInstanceOf(LockBackendException.class)
                            .hasMessageContaining("connect to the server directly");
                }
                assertThat(store.leftovers()).isEmpty();
            } finally {
                Store.end(backend);
                Store.end(another);
            }
        }
    }

    /** Reads it on a connection that does not belong to a lock client. */
    private static String transactionTimeout(PgBouncer bouncer, Store store) {
        return run(Flux.usingWhen(
                store.connections(PostgresServer.USER, bouncer.port()).create(),
                open -> Flux.from(open.createStatement("show idle_in_transaction_session_timeout")
                                .execute())
                        .concatMap(result -> result.map(row -> row.get(0, String.class))),
                Connection::close));
    }

    /** Each connection of a client has a connection of the server for itself. */
    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("bouncers")
    void sessionModeNotifiesTheWaiterOfAnotherClient(String which) {
        try (Store store = Store.start();
                PgBouncer bouncer = PgBouncer.run(which, store.server(), "session")) {
            LockClient locks = LockClient.create(behind(bouncer, store));
            // Without a notification, the next attempt of this client would come long after the time limit of this
            // test.
            LockClient others =
                    LockClient.create(R2dbcLockBackend.builder(store.connections(PostgresServer.USER, bouncer.port()))
                            .claimTime(Duration.ofMinutes(1))
                            .build());
            LockLease held = run(locks.lock("stock/42").acquire());
            Mono<LockLease> waiting =
                    others.lock("stock/42").with(PATIENT).acquire().cache();
            var unused = waiting.subscribe(lease -> {}, error -> {});
            Store.eventually(() -> store.listeners() == 1);
            run(held.release());
            run(run(waiting).release());
            run(locks.close());
            run(others.close());
        }
    }

    private static R2dbcLockBackend behind(PgBouncer bouncer, Store store) {
        return R2dbcLockBackend.create(store.connections(PostgresServer.USER, bouncer.port()));
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
