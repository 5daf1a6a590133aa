package io.holdfast.r2dbc.internal.mariadb;

import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.dialect.InboxSettings;
import io.holdfast.r2dbc.internal.dialect.KnownError;
import io.holdfast.r2dbc.internal.dialect.Listening;
import io.holdfast.r2dbc.internal.dialect.RowLockedException;
import io.holdfast.r2dbc.internal.dialect.Session;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Result;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The dialect of MariaDB 10.6 or newer and MySQL 8.0.22 or newer, with the procedures of {@code holdfast-1.sql}, for any driver. */
public final class MariaDbDialect implements Dialect {

    /**
     * It has no parameters: a driver would prepare the statement first, which is one more round trip, and some drivers close a prepared
     * statement in a way that waits. A channel contains only letters, digits and underscores. A batch contains only letters, digits, blanks
     * and bars.
     */
    private static final String CALL = "call holdfast_call_v1('%s', %d, %d, '%s')";

    /** The name of MySQL, as its driver has it. */
    public static final String MYSQL = "MySQL";

    /** The longest time that both databases accept. By default, the server ends a connection that is idle for 8 hours. */
    private static final int IDLE_SECONDS = 2_147_483;

    private final String database;

    /**
     * Creates the dialect of one of the two databases.
     *
     * @param database the name of the database, for messages
     */
    public MariaDbDialect(String database) {
        this.database = database;
    }

    @Override
    public String database() {
        return database;
    }

    @Override
    public Mono<Session> prepare(Connection connection, SessionSettings settings) {
        String limits = // a second is the shortest wait for a row that both databases accept
                "set session autocommit = 1, completion_type = 0, innodb_lock_wait_timeout = 1, lock_wait_timeout = %d, wait_timeout = %d"
                        .formatted(seconds(settings), IDLE_SECONDS);
        return use(connection, settings)
                .then(run(connection, limits))
                .then(run(connection, "set session transaction isolation level read committed"))
                .then(ping(connection))
                .then(named(connection));
    }

    private static Mono<Void> use(Connection connection, SessionSettings settings) {
        String schema = settings.schema();
        return schema == null ? Mono.empty() : run(connection, "use `" + schema.replace("`", "``") + "`");
    }

    private static long seconds(SessionSettings settings) {
        return Math.max(1, settings.serverMillis() / 1000);
    }

    @Override
    public Mono<Void> prepareInspector(Connection connection, SessionSettings settings) {
        return use(connection, settings)
                .then(run(connection, "set session lock_wait_timeout = " + seconds(settings)))
                .then(run(connection, "set session transaction isolation level read committed"));
    }

    @Override
    public String literal(String storedName) {
        return bytes(storedName);
    }

    static String bytes(String text) {
        return "x'" + HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8)) + "'";
    }

    @Override
    public String nameInHex() {
        return "lower(hex(name))";
    }

    /**
     * Takes a named lock of the server, which ends with its session. By that lock, another connection finds the number of this session. If
     * the server has no such locks, the session has no name.
     */
    private static Mono<Session> named(Connection connection) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        String name = "holdfast_%016x%016x".formatted(random.nextLong(), random.nextLong());
        return number(connection, "select get_lock('" + name + "', 0)")
                .onErrorComplete(R2dbcException.class)
                .filter(taken -> taken == 1)
                .map(taken -> new Session(connection, name))
                .defaultIfEmpty(new Session(connection, ""));
    }

    /**
     * Finds the session by its lock, not by a number that was noted: after a restart, or on another server, another session may have that
     * number.
     */
    @Override
    public Mono<Void> interrupt(Session silent, Connection another) {
        return number(another, "select is_used_lock('" + silent.name() + "')")
                .flatMap(session -> run(another, "kill " + session));
    }

    /** Emits the first column of the only row; empty if that is null. */
    private static Mono<Long> number(Connection connection, String sql) {
        return Flux.defer(() -> Flux.<Result>from(
                                connection.createStatement(sql).execute())
                        .concatMap(result -> result.map(row -> Optional.ofNullable(row.get(0, Long.class)))))
                .single()
                .flatMap(Mono::justOrEmpty);
    }

    @Override
    public Mono<Void> drop(Connection silent) {
        return database.equals(MYSQL) ? MySqlDriver.drop(silent) : Dialect.super.drop(silent);
    }

    @Override
    public Flux<Answer> call(
            Connection connection, String channel, long claimMillis, boolean isPatient, List<Operation> batch) {
        String sql = CALL.formatted(channel, claimMillis, isPatient ? 1 : 0, CallText.of(batch));
        return Flux.defer(() -> Flux.<Result>from(
                                connection.createStatement(sql).execute())
                        .concatMap(result -> result.map(row -> Objects.requireNonNull(row.get(0, String.class)))))
                .concatMapIterable(Answer::lines);
    }

    @Override
    public Flux<Answer> renew(Connection connection, boolean isPatient, List<Operation> batch) {
        return call(connection, "", 0, isPatient, batch);
    }

    @Override
    public Mono<Boolean> sweep(Connection connection) {
        return number(connection, "call holdfast_sweep_v1()").map(due -> due == 1);
    }

    /** Renews no lease: this fails if a procedure is missing, or the user may not call it. */
    @Override
    public Mono<Void> ping(Connection connection) {
        return renew(connection, false, List.of()).then();
    }

    @Override
    public Mono<Listening> listen(Connection connection, String channel, InboxSettings inbox) {
        return Inbox.open(connection, channel, inbox);
    }

    @Override
    public Optional<KnownError> explain(Throwable error) {
        if (error instanceof RowLockedException) {
            return Optional.of(MariaDbErrors.BUSY);
        }
        return error instanceof R2dbcException answered ? MariaDbErrors.explain(answered) : Optional.empty();
    }

    static Mono<Void> run(Connection connection, String sql) {
        return Flux.defer(() -> connection.createStatement(sql).execute())
                .concatMap(Result::getRowsUpdated)
                .then();
    }
}
