package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A PostgreSQL with the schema, for one test class. Its methods block. */
final class Store implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(20);

    private final PostgresServer server;

    private Store(PostgresServer server) {
        this.server = server;
    }

    static Store start() {
        Store store = empty();
        store.execute(schema());
        return store;
    }

    /** As in production: it flushes its disk. */
    static Store durable() {
        Store store = new Store(PostgresServer.run());
        store.execute(schema());
        return store;
    }

    static Store withSettings(String... settings) {
        List<String> all = new ArrayList<>(List.of(settings));
        all.addAll(List.of("fsync=off", "full_page_writes=off"));
        Store store = new Store(PostgresServer.run(all.toArray(String[]::new)));
        store.execute(schema());
        return store;
    }

    /** Without the schema. Nothing here ends the machine, so the disk need not be flushed. */
    static Store empty() {
        return new Store(PostgresServer.run("fsync=off", "full_page_writes=off"));
    }

    static String schema() {
        try (InputStream file = R2dbcLockBackend.class.getResourceAsStream("postgresql/V1__holdfast.sql")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A replica that follows asynchronously. */
    Store replica() {
        return new Store(server.replica());
    }

    PostgresServer server() {
        return server;
    }

    ConnectionFactory connections() {
        return connections(PostgresServer.USER);
    }

    ConnectionFactory connections(String user) {
        return connections(user, server.port());
    }

    ConnectionFactory connections(String user, int port) {
        return new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
                .host(server.host())
                .port(port)
                .username(user)
                .database(PostgresServer.DATABASE)
                .build());
    }

    Connection connect() {
        return Mono.<Connection>from(connections().create()).block(PATIENCE);
    }

    /** One statement, or several. */
    void execute(String sql) {
        var unused = rows(sql, row -> true);
    }

    /** The first column of each row. */
    List<String> texts(String sql) {
        return rows(sql, row -> String.valueOf(row.get(0)));
    }

    private <T> List<T> rows(String sql, Function<Readable, T> mapping) {
        return Flux.usingWhen(
                        connections().create(),
                        open -> Flux.from(open.createStatement(sql).execute())
                                .concatMap(result -> result.<T>map(mapping)),
                        Connection::close)
                .collectList()
                .block(PATIENCE);
    }

    /** Connections of lock clients that the server has now. */
    int clientConnections() {
        return Integer.parseInt(texts("select count(*) from pg_stat_activity where application_name = 'holdfast'")
                .get(0));
    }

    /** Ends the connections of lock clients, as an operator does. */
    void killClientConnections() {
        execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast'");
    }

    /**
     * From now on, commits that wait for the disk do not end. They wait for a synchronous replica that there is not, until {@link #resumeCommits}.
     */
    void holdUpCommits() {
        execute("create table if not exists probe (at timestamptz)");
        execute("alter system set synchronous_standby_names = 'there_is_none'");
        execute("select pg_reload_conf()");
        eventually(() -> {
            Disposable unused = Flux.usingWhen(
                            connections().create(),
                            open -> Flux.from(open.createStatement("insert into probe values (clock_timestamp())")
                                            .execute())
                                    .concatMap(Result::getRowsUpdated),
                            Connection::close)
                    .subscribe(rows -> {}, error -> {});
            return !texts("select 1 from pg_stat_activity where wait_event = 'SyncRep'")
                    .isEmpty();
        });
    }

    void resumeCommits() {
        execute("alter system reset synchronous_standby_names");
        execute("select pg_reload_conf()");
        eventually(() -> texts("select 1 from pg_stat_activity where wait_event = 'SyncRep'")
                .isEmpty());
    }

    static void eventually(BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("in time").isNegative();
            Mono.delay(Duration.ofMillis(10)).block();
        }
    }

    /** What is held, or waited for. */
    List<String> leftovers() {
        return Stream.of(
                        "select format('%s %s held by %s', kind, name, holder) from holdfast_lock where holder is not"
                                + " null",
                        "select format('%s %s waited for by %s', kind, name, id) from holdfast_waiter")
                .flatMap(sql -> texts(sql).stream())
                .toList();
    }

    static void end(LockBackend backend) {
        if (backend != null) {
            backend.close().block(PATIENCE);
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
