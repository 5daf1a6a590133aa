package io.holdfast.cli.doctor;

import io.holdfast.spi.LockBackend;
import io.r2dbc.postgresql.api.PostgresqlConnection;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Result;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Checks PostgreSQL, MariaDB or MySQL. */
public final class SqlDoctor implements Doctor {

    private static final String SCHEMA_VERSION = "1";
    private static final Duration SOON = Duration.ofSeconds(2);
    private static final String REPLICAS =
            "select count(*) || ' replicas, ' || count(*) filter (where sync_state in ('sync', 'quorum')) || ' of them synchronous' from pg_stat_replication";

    private final ConnectionFactory connections;
    private final Supplier<LockBackend> backends;
    private final Questions server;
    private final boolean isPostgres;
    private final String prefix;
    private final String name = "doctor-" + UUID.randomUUID();

    /**
     * Connects with the first check.
     *
     * @param connections opens connections to the database
     * @param schema the schema of the tables; null for that of the connection
     * @param backends makes back ends for a lock in the same place
     * @param patience the longest time for the answers of one check; some may take a multiple of it
     */
    public SqlDoctor(
            ConnectionFactory connections, @Nullable String schema, Supplier<LockBackend> backends, Duration patience) {
        this.connections = connections;
        this.backends = backends;
        server = new Questions("sql", patience);
        isPostgres = connections.getMetadata().getName().equals("PostgreSQL");
        String quote = isPostgres ? "\"" : "`";
        prefix = schema == null ? "" : quote + schema.replace(quote, quote + quote) + quote + ".";
    }

    @Override
    public Flux<Finding> examine() {
        return Flux.usingWhen(
                        open(),
                        connection -> checks(connection)
                                .startWith(server.finding(
                                        "connection",
                                        Answer.works(connection.getMetadata().getDatabaseProductName()))),
                        SqlDoctor::closed)
                .onErrorResume(error -> Flux.just(server.finding("connection", Answer.fails(Questions.text(error)))));
    }

    private Mono<Connection> open() {
        return Mono.<Connection>from(connections.create())
                .timeout(server.patience().multipliedBy(2));
    }

    private static Mono<Void> closed(Connection connection) {
        return Mono.from(connection.close()).timeout(SOON).onErrorComplete();
    }

    private static Flux<String> rows(Connection connection, String sql) {
        return Flux.defer(
                        () -> Flux.<Result>from(connection.createStatement(sql).execute()))
                .concatMap(result -> result.map(row -> String.valueOf(row.get(0))), 1);
    }

    private static Mono<String> row(Connection connection, String sql) {
        return rows(connection, sql).next();
    }

    private static Mono<Void> run(Connection connection, String sql) {
        return Flux.defer(
                        () -> Flux.<Result>from(connection.createStatement(sql).execute()))
                .concatMap(Result::getRowsUpdated, 1)
                .then();
    }

    private Flux<Finding> checks(Connection connection) {
        String readOnly = isPostgres
                ? "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean"
                : "select @@global.read_only = 1";
        String now = isPostgres
                ? "select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)"
                : "select timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))";
        return Flux.concat(
                server.ask("version", row(connection, "select version()").map(this::version)),
                isPostgres
                        ? server.ask(
                                "encoding",
                                row(connection, "show server_encoding").map(it -> Answer.is(it.equals("UTF8"), it)))
                        : Mono.empty(),
                server.ask(
                        "writes",
                        row(connection, readOnly)
                                .map(it -> it.equals("true") || it.equals("1")
                                        ? Answer.fails("the server is read-only")
                                        : Answer.works("the server takes writes"))),
                server.ask(
                        "schema",
                        rows(connection, "select version from " + prefix + "holdfast_schema")
                                .collectList()
                                .map(versions -> Answer.is(versions.contains(SCHEMA_VERSION), "versions " + versions))),
                rights(connection).map(answer -> server.finding("rights", answer)),
                server.ask("session", session(connection)),
                isPostgres ? server.ask("notify", notified(connection)) : server.ask("named-locks", named(connection)),
                server.ask("durability", durable(connection)),
                isPostgres
                        ? server.ask(
                                "replication",
                                row(connection, REPLICAS).map(found -> Answer.is(!found.contains(", 0 of"), found)))
                        : Mono.empty(),
                server.ask("clock", Questions.clock(row(connection, now).map(Long::parseLong))),
                server.ask("latency", 2, Questions.latency(row(connection, "select 1"))),
                server.ask("lock", LockCycle.TIMES, LockCycle.run(backends, name, server.patience())));
    }

    private Answer version(String text) {
        Matcher number = Pattern.compile("(\\d+)\\.(\\d+)(?:\\.(\\d+))?").matcher(text);
        if (!number.find()) {
            return Answer.unknown(text);
        }
        int least = isPostgres ? 13_00_00 : text.contains("MariaDB") ? 10_06_00 : 8_00_22;
        int patch = number.group(3) == null ? 0 : Integer.parseInt(number.group(3));
        int version = Integer.parseInt(number.group(1)) * 10000
                + Integer.parseInt(number.group(2)) * 100
                + Math.min(patch, 99);
        return Answer.is(version >= least, text);
    }

    /** Tries each right with a statement that concerns no row, and the right to the procedures with a renewal of no lease. */
    private Mono<Answer> rights(Connection connection) {
        List<String> tables = isPostgres
                ? List.of("lock", "waiter", "tombstone")
                : List.of("lock", "fence", "waiter", "tombstone", "client", "inbox");
        String insert =
                "insert into %1$s" + (isPostgres ? " overriding user value" : "") + " select * from %1$s where 1 = 0";
        Flux<Mono<Void>> ofTables = Flux.fromIterable(tables)
                .flatMapIterable(table -> Stream.of(
                                "select 1 from %s where 1 = 0 for update", insert, "delete from %s where 1 = 0")
                        .map(sql -> run(connection, sql.formatted(prefix + "holdfast_" + table)))
                        .toList());
        Flux<Mono<Void>> others = Flux.just(
                        "update %sholdfast_schema set version = version where 1 = 0",
                        "select 1 from %sholdfast_holders where 1 = 0", "select 1 from %sholdfast_waiters where 1 = 0")
                .map(sql -> run(connection, sql.formatted(prefix)));
        Mono<Void> procedures = Mono.usingWhen(Mono.fromSupplier(backends), LockBackend::ping, LockBackend::close);
        return Flux.concat(ofTables, others, Flux.just(procedures))
                .concatMap(use -> use.timeout(server.patience().multipliedBy(2))
                        .thenReturn("")
                        .onErrorResume(error -> Mono.just(Questions.text(error))))
                .filter(error -> !error.isEmpty())
                .distinct()
                .collectList()
                .map(errors ->
                        Answer.is(errors.isEmpty(), errors.isEmpty() ? "all of them" : String.join("; ", errors)));
    }

    /** Another connection takes the session that this one has just used, if a pooler gives a session for a transaction only. */
    private Mono<Answer> session(Connection connection) {
        String id = isPostgres ? "select pg_backend_pid()" : "select connection_id()";
        return Mono.usingWhen(
                open(),
                other -> Flux.concat(
                                row(connection, id),
                                Mono.from(other.beginTransaction()).then(row(other, id)),
                                row(connection, id))
                        .collectList()
                        .delayUntil(ids -> other.rollbackTransaction())
                        .map(ids -> ids.get(0).equals(ids.get(2)) && !ids.get(0).equals(ids.get(1))
                                ? Answer.works("it is kept")
                                : Answer.fails("it changes between statements")),
                SqlDoctor::closed);
    }

    private Mono<Answer> notified(Connection connection) {
        String channel = "\"" + name + "\"";
        return Mono.usingWhen(
                open(),
                listening -> run(listening, "listen " + channel)
                        .then(Mono.zip( // the driver drops messages without a subscriber, so that comes first
                                ((PostgresqlConnection) listening)
                                        .getNotifications()
                                        .next()
                                        .timeout(SOON),
                                run(connection, "notify " + channel).thenReturn(channel)))
                        .map(heard -> Answer.works("a message came"))
                        .onErrorMap(TimeoutException.class, silent -> new IllegalStateException("no message came")),
                SqlDoctor::closed);
    }

    private Mono<Answer> named(Connection connection) {
        return row(connection, "select get_lock('%s', 0)".formatted(name))
                .delayUntil(got -> row(connection, "select release_lock('%s')".formatted(name)))
                .map(got -> Answer.is(got.equals("1"), "the server has named locks"));
    }

    private Mono<Answer> durable(Connection connection) {
        String settings = isPostgres
                ? "select concat_ws(' ', current_setting('fsync'), current_setting('full_page_writes'))"
                : "select concat_ws(' ', @@global.innodb_flush_log_at_trx_commit, if(@@global.log_bin, @@global.sync_binlog, 1))";
        String names = isPostgres ? "fsync, full_page_writes: " : "innodb_flush_log_at_trx_commit, sync_binlog: ";
        return row(connection, settings)
                .map(values -> Answer.is(values.equals(isPostgres ? "on on" : "1 1"), names + values));
    }

    /** Deletes the rows of the lock. */
    @Override
    public Mono<Void> close() {
        List<String> tables = isPostgres ? List.of("waiter", "lock") : List.of("waiter", "lock", "fence");
        return Mono.usingWhen(
                        open(),
                        connection -> Flux.fromIterable(tables)
                                .concatMap(table -> run(
                                                connection,
                                                "delete from %sholdfast_%s where name = '%s'"
                                                        .formatted(prefix, table, name))
                                        .onErrorComplete())
                                .then(),
                        SqlDoctor::closed)
                .timeout(server.patience())
                .onErrorComplete();
    }
}
