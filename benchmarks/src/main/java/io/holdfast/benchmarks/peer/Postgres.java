package io.holdfast.benchmarks.peer;

import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The address of a PostgreSQL.
 *
 * @param host its address
 * @param port its port
 * @param pid of its first process
 */
public record Postgres(String host, int port, long pid) {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** The tables of the peers. Those of Spring Integration and ShedLock follow their documentation. */
    private static final List<String> TABLES = List.of(
            """
            create table int_lock (
              lock_key char(36) not null,
              region varchar(100) not null,
              client_id char(36),
              created_date timestamp not null,
              expired_after timestamp not null,
              constraint int_lock_pk primary key (lock_key, region))
            """,
            """
            create table shedlock (
              name varchar(64) not null,
              lock_until timestamp not null,
              locked_at timestamp not null,
              locked_by varchar(255) not null,
              primary key (name))
            """,
            "create table committed (id int primary key, count bigint not null)",
            "insert into committed values (1, 0)");

    /** Parses a text such as {@code 127.0.0.1:5432:4711}. */
    static Postgres parse(String text) {
        String[] parts = text.split(":", -1);
        return new Postgres(parts[0], Integer.parseInt(parts[1]), Long.parseLong(parts[2]));
    }

    String asText() {
        return "%s:%d:%d".formatted(host, port, pid);
    }

    /** Returns a factory of connections without a pool. */
    public ConnectionFactory connections() {
        return new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
                .host(host)
                .port(port)
                .username(PostgresServer.USER)
                .database(PostgresServer.DATABASE)
                .build());
    }

    ConnectionPool pool(int size) {
        return new ConnectionPool(ConnectionPoolConfiguration.builder(connections())
                .initialSize(size)
                .maxSize(size)
                .build());
    }

    String jdbcUrl() {
        return "jdbc:postgresql://%s:%d/%s".formatted(host, port, PostgresServer.DATABASE);
    }

    /** Makes the tables of all peers in an empty database. */
    public void createTables() {
        execute(schema());
        TABLES.forEach(this::execute);
    }

    private static String schema() {
        try (InputStream file = R2dbcLockBackend.class.getResourceAsStream("postgresql/holdfast-1.sql")) {
            if (file == null) {
                throw new IllegalStateException("the schema is not on the class path");
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void execute(String sql) {
        List<Boolean> unused = query(sql, row -> true);
    }

    /** Returns the first column of the first row. */
    public String text(String sql) {
        return query(sql, String::valueOf).get(0);
    }

    private <T> List<T> query(String sql, Function<Object, T> mapping) {
        List<T> rows = Flux.usingWhen(
                        connections().create(),
                        open -> Flux.from(open.createStatement(sql).execute())
                                .concatMap(result ->
                                        result.map(row -> mapping.apply(String.valueOf(row.get(0, String.class))))),
                        Connection::close)
                .collectList()
                .block(PATIENCE);
        return rows == null ? List.of() : rows;
    }

    /** Runs a statement on a connection; completes with it. */
    static Mono<Void> run(Connection connection, String sql) {
        return Flux.from(connection.createStatement(sql).execute())
                .concatMap(result -> result.getRowsUpdated())
                .then();
    }
}
