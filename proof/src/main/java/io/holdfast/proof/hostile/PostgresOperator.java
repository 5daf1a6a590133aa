package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Faults after which a PostgreSQL takes no more writes or no more connections. None of them makes a server lose data. They share one field with the
 * faults that kill and promote servers, so they never overlap with those: a change of this class must not outlive a promotion.
 */
final class PostgresOperator {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration GONE_WITHIN = Duration.ofSeconds(90);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    private static final List<String> TABLES = List.of("holdfast_lock", "holdfast_waiter", "holdfast_tombstone");

    /** The error of the server when a table cannot grow. A real full disk would need rights that a build does not have. */
    private static final String FULL = """
            create or replace function disk_is_full() returns trigger language plpgsql as $$
            begin
              raise exception 'could not extend file "base/5/16395": No space left on device'
                using errcode = 'disk_full', hint = 'Check free disk space.';
            end $$""";

    /** The number of connections of other applications: as many as the server allows, and some more. Several connect at a time. */
    private static final int STRANGERS = 130;

    private static final int AT_A_TIME = 8;

    private final Supplier<PostgresServer> primary;
    private final Function<PostgresServer, PostgresServer> replicaOf;

    PostgresOperator(Supplier<PostgresServer> primary, Function<PostgresServer, PostgresServer> replicaOf) {
        this.primary = primary;
        this.replicaOf = replicaOf;
    }

    Map<FaultKind, Strike.Fault> faults() {
        return Map.of(
                FaultKind.DISK_FULL, this::fillDisk,
                FaultKind.READ_ONLY, this::takeNoWrites,
                FaultKind.CONNECTIONS_USED_UP, this::useUpConnections);
    }

    /** Leaves no room for new rows; in half of the strikes, also no room for new versions of rows. */
    private void fillDisk(Strike strike) throws InterruptedException {
        PostgresServer server = primary.get();
        String verbs = strike.other(2) == 0 ? "insert" : "insert or update";
        insist(server, FULL);
        try {
            for (String table : TABLES) {
                insist(
                        server,
                        "create or replace trigger disk_is_full before %s on %s execute function disk_is_full()"
                                .formatted(verbs, table));
            }
            strike.last();
        } finally {
            for (String table : TABLES) {
                insist(server, "drop trigger if exists disk_is_full on " + table);
            }
        }
        Await.until(
                "the replica has room, too",
                GONE_WITHIN,
                POLL_INTERVAL,
                () -> answers(replicaOf.apply(server), "select 1 from pg_trigger where tgname = 'disk_is_full'")
                        .equals(List.of()));
    }

    private void takeNoWrites(Strike strike) throws InterruptedException {
        PostgresServer server = primary.get();
        insist(server, "alter system set default_transaction_read_only = on");
        try {
            insist(server, "select pg_reload_conf()");
            strike.last();
        } finally {
            insist(server, "alter system reset default_transaction_read_only");
            insist(server, "select pg_reload_conf()");
        }
    }

    /** Other applications take all free connections, and clients lose some of theirs. */
    private void useUpConnections(Strike strike) throws InterruptedException {
        PostgresServer server = primary.get();
        List<Connection> taken = new CopyOnWriteArrayList<>();
        try {
            take(server, taken);
            endSome(taken);
            take(server, taken);
            strike.last();
        } finally {
            Flux.fromIterable(taken)
                    .flatMap(connection -> Mono.from(connection.close()).onErrorComplete(), AT_A_TIME)
                    .then()
                    .timeout(PATIENCE)
                    .onErrorComplete()
                    .block();
        }
    }

    /** Opens a connection; fails if all are taken, or if the server is unreachable. */
    private static void take(PostgresServer server, List<Connection> taken) {
        Flux.range(0, STRANGERS)
                .flatMap(
                        i -> Mono.<Connection>from(
                                        PostgresAddress.direct(server.port()).create())
                                .doOnNext(taken::add)
                                .onErrorComplete(),
                        AT_A_TIME)
                .then()
                .timeout(PATIENCE)
                .onErrorComplete()
                .block();
    }

    /** Ends some connections, by one that is already open. */
    private static void endSome(List<Connection> taken) {
        if (!taken.isEmpty()) {
            Flux.from(taken.get(0).createStatement("""
                            select pg_terminate_backend(pid) from pg_stat_activity
                             where backend_type = 'client backend' and pid <> pg_backend_pid() and random() < 0.4""").execute())
                    .concatMap(result -> result.map(row -> true))
                    .then()
                    .timeout(PATIENCE)
                    .onErrorComplete()
                    .block();
        }
    }

    /** Returns the first column; while the server is unreachable, the error. */
    private static List<String> answers(PostgresServer server, String sql) {
        try {
            return PostgresStore.texts(PostgresAddress.direct(server.port()), sql, PATIENCE);
        } catch (RuntimeException away) {
            return List.of(away.toString());
        }
    }

    /** Repeats a statement until it succeeds: a busy server may give up on the lock of a table, or end this connection, too. */
    private static void insist(PostgresServer server, String sql) throws InterruptedException {
        insist(() -> server, sql);
    }

    /** Runs a statement at the server that is the primary at that moment. */
    static void insist(Supplier<PostgresServer> server, String sql) throws InterruptedException {
        Await.until("done: " + sql, GONE_WITHIN, POLL_INTERVAL, () -> {
            try {
                List<String> unused =
                        PostgresStore.texts(PostgresAddress.direct(server.get().port()), sql, PATIENCE);
                return true;
            } catch (RuntimeException refused) {
                return false;
            }
        });
    }
}
