package io.holdfast.cli.doctor;

import io.holdfast.spi.LockBackend;
import io.r2dbc.postgresql.api.PostgresqlConnection;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Checks PostgreSQL, MariaDB or MySQL. */
public final class SqlDoctor implements Doctor {

    private static final String SCHEMA_VERSION = "1";
    private static final Duration SOON = Duration.ofSeconds(2);

    private static final Check CONNECTION = Check.needed(
            "connection",
            "Nothing works.",
            "Check the address, HOLDFAST_USER and HOLDFAST_PASSWORD, and that the server runs.");
    private static final Check VERSION = Check.needed(
            "version",
            "Older servers lack what the schema needs.",
            "Use PostgreSQL 13, MariaDB 10.6, MySQL 8.0.22, or a newer version.");
    private static final Check ENCODING = Check.needed(
            "encoding", "Names of locks need UTF8.", "Keep locks in a database that was created with encoding UTF8.");
    private static final Check PRIMARY = Check.needed(
            "writes", "A replica grants no locks.", "Connect to the primary, and switch read-only modes off.");
    private static final Check SCHEMA = Check.needed(
            "schema",
            "Each request fails.",
            "Run holdfast-1.sql of the jar of holdfast-r2dbc once, name its schema with --schema, or grant usage on it.");
    private static final Check RIGHTS = Check.needed(
            "rights", "Requests fail.", "Grant the rights of docs/operate/databases.md.");
    private static final Check SESSION = Check.needed(
            "one session for each connection",
            "A pooler in transaction mode loses LISTEN and the settings of sessions. Waiters get locks late, or never.",
            "Connect to the server itself, or use the session mode of the pooler.");
    private static final Check NOTIFY = Check.needed(
            "LISTEN and NOTIFY",
            "Waiters get a lock by their next attempt only, up to 2 s late.",
            "Connect to the server itself, or use the session mode of the pooler.");
    private static final Check KILL = Check.optional(
            "GET_LOCK", "A call that hangs is not ended on the server.", "Use a server that has named locks.");
    private static final Check DURABLE = Check.optional(
            "durability",
            "A crash of the server may lose the last grants. The fence still holds.",
            "PostgreSQL: fsync = on, full_page_writes = on. MariaDB and MySQL: innodb_flush_log_at_trx_commit = 1, and sync_binlog = 1 with a binary log.");
    private static final Check REPLICATION = Check.optional(
            "replication",
            "A failover may lose the last grants. The fence still holds.",
            "PostgreSQL: a synchronous replica. Keep locks and fenced data in one database.");
    private static final Check CLOCK = Check.optional(
            "clock",
            "Leases end by the server's clock. It must not be set in steps.",
            "Run a clock service on all machines.");
    private static final Check LATENCY = Check.optional(
            "latency",
            "Each request for a lock takes at least that long.",
            "Move the application and the server closer.");

    private final ConnectionFactory connections;
    private final Supplier<LockBackend> backends;
    private final boolean isPostgres;
    private final String prefix;
    private final String name = "doctor-" + UUID.randomUUID();

    /**
     * Connects with the first check.
     *
     * @param connections opens connections to the database
     * @param schema the schema of the tables; null for that of the connection
     * @param backends makes back ends for a lock in the same place
     */
    public SqlDoctor(ConnectionFactory connections, @Nullable String schema, Supplier<LockBackend> backends) {
        this.connections = connections;
        this.backends = backends;
        isPostgres = connections.getMetadata().getName().equals("PostgreSQL");
        String quote = isPostgres ? "\"" : "`";
        prefix = schema == null ? "" : quote + schema.replace(quote, quote + quote) + quote + ".";
    }

    @Override
    public Flux<Finding> examine() {
        return Flux.usingWhen(
                        open(),
                        connection -> Flux.just(CONNECTION.works(
                                        connection.getMetadata().getDatabaseProductName()))
                                .concatWith(checks(connection)),
                        SqlDoctor::closed)
                .onErrorResume(error -> Flux.just(CONNECTION.fails(Check.text(error))));
    }

    private Mono<Connection> open() {
        return Mono.<Connection>from(connections.create()).timeout(Check.PATIENCE.multipliedBy(2));
    }

    private static Mono<Void> closed(Connection connection) {
        return Mono.from(connection.close()).timeout(SOON).onErrorComplete();
    }

    private static Flux<String> ask(Connection connection, String sql) {
        return Flux.defer(
                        () -> Flux.<Result>from(connection.createStatement(sql).execute()))
                .concatMap(result -> result.map(SqlDoctor::text));
    }

    private static String text(Readable row) {
        return String.valueOf(row.get(0));
    }

    private static Mono<Void> run(Connection connection, String sql) {
        return Flux.defer(
                        () -> Flux.<Result>from(connection.createStatement(sql).execute()))
                .concatMap(Result::getRowsUpdated)
                .then();
    }

    private Flux<Finding> checks(Connection connection) {
        String now = isPostgres
                ? "select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)"
                : "select timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))";
        return Flux.concat(
                VERSION.ask(ask(connection, "select version()").next().map(this::version)),
                isPostgres
                        ? ENCODING.ask(ask(connection, "show server_encoding")
                                .next()
                                .map(it -> ENCODING.is(it.equals("UTF8"), it)))
                        : Mono.empty(),
                primary(connection),
                SCHEMA.ask(ask(connection, "select version from " + prefix + "holdfast_schema")
                        .collectList()
                        .map(versions -> SCHEMA.is(versions.contains(SCHEMA_VERSION), "versions " + versions))),
                rights(connection),
                session(connection),
                isPostgres ? notified(connection) : named(connection),
                durable(connection),
                isPostgres ? replication(connection) : Mono.empty(),
                CLOCK.clock(ask(connection, now).next().map(it -> Check.instant(Long.parseLong(it)))),
                LATENCY.latency(ask(connection, "select 1").then()),
                LockCycle.run(backends, name));
    }

    private Finding version(String text) {
        Matcher number = Pattern.compile("(\\d+)\\.(\\d+)(?:\\.(\\d+))?").matcher(text);
        if (!number.find()) {
            return VERSION.unknown(text);
        }
        int least = isPostgres ? 13_00_00 : text.contains("MariaDB") ? 10_06_00 : 8_00_22;
        int patch = number.group(3) == null ? 0 : Integer.parseInt(number.group(3));
        int version = Integer.parseInt(number.group(1)) * 10000
                + Integer.parseInt(number.group(2)) * 100
                + Math.min(patch, 99);
        return VERSION.is(version >= least, text);
    }

    private Mono<Finding> primary(Connection connection) {
        return PRIMARY.ask(ask(
                        connection,
                        isPostgres
                                ? "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean"
                                : "select @@global.read_only = 1")
                .next()
                .map(it -> it.equals("true") || it.equals("1")
                        ? PRIMARY.fails("the server is read-only")
                        : PRIMARY.works("the server takes writes")));
    }

    /** Tries each right with a statement that concerns no row, and the right to the procedures with a renewal of no lease. */
    private Mono<Finding> rights(Connection connection) {
        List<String> tables = isPostgres
                ? List.of("lock", "waiter", "tombstone")
                : List.of("lock", "fence", "waiter", "tombstone", "client", "inbox");
        return Flux.fromIterable(tables)
                .concatMap(table -> Flux.just(
                                "select 1 from %s where 1 = 0 for update",
                                "insert into %1$s" + (isPostgres ? " overriding user value" : "")
                                        + " select * from %1$s where 1 = 0",
                                "delete from %s where 1 = 0")
                        .map(it -> it.formatted(prefix + "holdfast_" + table)))
                .concatWithValues(
                        "update %sholdfast_schema set version = version where 1 = 0".formatted(prefix),
                        "select 1 from %sholdfast_holders where 1 = 0".formatted(prefix),
                        "select 1 from %sholdfast_waiters where 1 = 0".formatted(prefix))
                .concatMap(sql -> run(connection, sql)
                        .timeout(Check.PATIENCE)
                        .thenReturn("")
                        .onErrorResume(error -> Mono.just(Check.text(error))))
                .concatWith(Mono.usingWhen(Mono.fromSupplier(backends), LockBackend::ping, LockBackend::close)
                        .timeout(Check.PATIENCE.multipliedBy(2))
                        .thenReturn("")
                        .onErrorResume(error -> Mono.just(Check.text(error))))
                .filter(error -> !error.isEmpty())
                .distinct()
                .collectList()
                .map(errors ->
                        RIGHTS.is(errors.isEmpty(), errors.isEmpty() ? "all of them" : String.join("; ", errors)));
    }

    /** Another connection takes the session that this one has just used, if a pooler gives a session for a transaction only. */
    private Mono<Finding> session(Connection connection) {
        String id = isPostgres ? "select pg_backend_pid()" : "select connection_id()";
        return SESSION.ask(Mono.usingWhen(
                open(),
                other -> ask(connection, id)
                        .next()
                        .flatMap(before -> Mono.from(other.beginTransaction())
                                .then(ask(other, id).next())
                                .flatMap(others -> ask(connection, id)
                                        .next()
                                        .map(after -> SESSION.is(
                                                before.equals(after) && !others.equals(before),
                                                before.equals(after) && !others.equals(before)
                                                        ? "it is kept"
                                                        : "it changes between statements")))
                                .delayUntil(it -> other.rollbackTransaction())),
                SqlDoctor::closed));
    }

    private Mono<Finding> notified(Connection connection) {
        String channel = "\"" + name + "\"";
        return NOTIFY.ask(Mono.usingWhen(
                open(),
                listening -> Mono.zip(
                                ((PostgresqlConnection) listening)
                                        .getNotifications()
                                        .next()
                                        .timeout(SOON),
                                run(listening, "listen " + channel)
                                        .then(run(connection, "notify " + channel))
                                        .thenReturn(channel))
                        .map(heard -> NOTIFY.works("a message came"))
                        .onErrorMap(TimeoutException.class, silent -> new IllegalStateException("no message came")),
                SqlDoctor::closed));
    }

    private Mono<Finding> named(Connection connection) {
        return KILL.ask(ask(connection, "select get_lock('%s', 0)".formatted(name))
                .next()
                .delayUntil(got -> ask(connection, "select release_lock('%s')".formatted(name))
                        .then())
                .map(got -> KILL.is(got.equals("1"), "the server has named locks")));
    }

    private Mono<Finding> durable(Connection connection) {
        return DURABLE.askIfAllowed(ask(
                        connection,
                        isPostgres
                                ? "select concat_ws(' ', current_setting('fsync'), current_setting('full_page_writes'))"
                                : "select concat_ws(' ', @@global.innodb_flush_log_at_trx_commit, if(@@global.log_bin, @@global.sync_binlog, 1))")
                .next()
                .map(settings -> DURABLE.is(
                        settings.equals(isPostgres ? "on on" : "1 1"),
                        (isPostgres ? "fsync, full_page_writes: " : "innodb_flush_log_at_trx_commit, sync_binlog: ")
                                + settings)));
    }

    private static Mono<Finding> replication(Connection connection) {
        return REPLICATION.askIfAllowed(ask(
                        connection,
                        "select count(*) || ' replicas, ' || count(*) filter (where sync_state in ('sync', 'quorum')) || ' of them synchronous' from pg_stat_replication")
                .next()
                .map(found -> REPLICATION.is(!found.contains(", 0 of"), found)));
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
                .timeout(Check.PATIENCE)
                .onErrorComplete();
    }
}
