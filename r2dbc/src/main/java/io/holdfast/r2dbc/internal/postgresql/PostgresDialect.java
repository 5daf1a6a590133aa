package io.holdfast.r2dbc.internal.postgresql;

import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.dialect.InboxSettings;
import io.holdfast.r2dbc.internal.dialect.KnownError;
import io.holdfast.r2dbc.internal.dialect.Listening;
import io.holdfast.r2dbc.internal.dialect.RowLockedException;
import io.holdfast.r2dbc.internal.dialect.Session;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.r2dbc.internal.protocol.Push;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.r2dbc.postgresql.api.Notification;
import io.r2dbc.postgresql.api.PostgresqlConnection;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import io.r2dbc.spi.Wrapped;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The dialect of PostgreSQL 13 or newer, with the functions of {@code holdfast-1.sql}. */
public final class PostgresDialect implements Dialect {

    /** The text is short, since the driver parses it for each call. */
    private static final String CALL = "call holdfast_commit_v1($1,$2,$3,$4,null)";

    private static final String RENEW = "select n, answer from holdfast_renew_v1($1, $2, $3, $4, $5, $6)";

    /** A call that asks whether this client lives holds the client's advisory lock until its commit, which may take longer than {@code lock_timeout}. */
    private static final String LIVE =
            "select set_config('lock_timeout', '0', false), pg_advisory_lock(hashtextextended($1, 0))";

    private static final String END = "select pg_terminate_backend(pid) from pg_stat_activity"
            + " where pid || ' ' || extract(epoch from backend_start) = $1";

    /**
     * All settings in one round trip. With {@code synchronous_commit} off, a crash would lose grants. A {@code statement_timeout} would end
     * the wait of a commit for a replica, and the procedure would go on and tell of a grant that only the primary has. Just-in-time compilation costs more
     * than any of these statements. A plan is made once for each session, and may be older than the queue that it reads. It must not read
     * the whole queue only because the table was empty then. The server ends the session of a client that has vanished within half a
     * minute, not after two hours: its host has lost power, or the network has forgotten the connection. Not all versions have the settings that are read from {@code pg_settings}.
     */
    private static final String PREPARE = """
            select current_setting('server_encoding'),
                   (select pid || ' ' || extract(epoch from backend_start)
                      from pg_stat_activity where pid = pg_backend_pid()),
                   set_config('default_transaction_isolation', 'read committed', false),
                   set_config('synchronous_commit',
                              case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, false),
                   set_config('statement_timeout', '0', false),
                   set_config('lock_timeout', $3, false),
                   set_config('idle_in_transaction_session_timeout', $1, false),
                   (select count(set_config(name, '0', false)) from pg_settings where name in ('idle_session_timeout', 'transaction_timeout')),
                   set_config('tcp_keepalives_idle', '10', false),
                   set_config('tcp_keepalives_interval', '5', false),
                   set_config('tcp_keepalives_count', '3', false),
                   set_config('tcp_user_timeout', '20000', false),
                   set_config('jit', 'off', false),
                   set_config('plan_cache_mode', 'force_generic_plan', false),
                   set_config('enable_seqscan', 'off', false),
                   set_config('enable_bitmapscan', 'off', false),
                   set_config('enable_sort', 'off', false),
                   set_config('application_name', 'holdfast', false),
                   set_config('search_path', case $2 when '' then current_setting('search_path') else quote_ident($2) end, false)
            """;

    /** Sequential scans are off: a queue that has just grown has no statistics, and would be read as a whole for each lock. */
    private static final String PREPARE_INSPECTOR = """
            select set_config('default_transaction_read_only', 'on', false),
                   set_config('statement_timeout', $1, false),
                   set_config('jit', 'off', false),
                   set_config('enable_seqscan', 'off', false),
                   set_config('application_name', 'holdfast inspector', false),
                   set_config('search_path', case $2 when '' then current_setting('search_path') else quote_ident($2) end, false)
            """;

    @Override
    public String database() {
        return "PostgreSQL";
    }

    @Override
    public Mono<Session> prepare(Connection connection, SessionSettings settings) {
        String schema = settings.schema();
        Statement statement = connection
                .createStatement(PREPARE)
                .bind("$1", Long.toString(settings.serverMillis()))
                .bind("$2", schema == null ? "" : schema)
                .bind("$3", Long.toString(settings.rowWaitMillis()));
        return rows(statement, row -> session(connection, row))
                .single()
                .flatMap(open -> ping(connection).thenReturn(open));
    }

    private static Session session(Connection connection, Readable row) {
        String encoding = row.get(0, String.class);
        if (!"UTF8".equals(encoding)) {
            throw new UnusableException("the encoding of the database is " + encoding
                    + ", and names of locks need UTF8: keep locks in a database that was created with encoding UTF8");
        }
        return new Session(connection, Objects.requireNonNullElse(row.get(1, String.class), ""));
    }

    @Override
    public Flux<Answer> call(
            Connection connection, String channel, long claimMillis, boolean isPatient, List<Operation> batch) {
        Statement statement = connection
                .createStatement(CALL)
                .bind("$1", channel)
                .bind("$2", (int) claimMillis)
                .bind("$3", isPatient)
                .bind("$4", batch.stream().flatMap(PostgresDialect::words).toArray(String[]::new));
        return rows(statement, row -> Objects.requireNonNull(row.get(0, String.class)))
                .flatMapIterable(Answer::lines);
    }

    /** One array of texts costs client and server less than an array for each column. */
    private static Stream<String> words(Operation operation) {
        LockClaim claim = operation.claim();
        LockKey key = claim.key();
        return Stream.of(
                operation.word(),
                LockText.name(key.name()),
                LockText.kind(key.kind()),
                LockText.mode(key.kind()),
                Integer.toString(key.permits()),
                Integer.toString(claim.permits()),
                claim.id(),
                Long.toString(operation.leaseMillis()),
                Integer.toString(claim.attempt()),
                Boolean.toString(operation.isWatched()),
                Long.toString(operation.token()));
    }

    @Override
    public Flux<Answer> renew(Connection connection, boolean isPatient, List<Operation> batch) {
        Statement statement = connection
                .createStatement(RENEW)
                .bind("$1", isPatient)
                .bind("$2", texts(batch, it -> LockText.name(it.claim().key().name())))
                .bind("$3", texts(batch, it -> LockText.kind(it.claim().key().kind())))
                .bind("$4", texts(batch, it -> it.claim().id()))
                .bind("$5", numbers(batch, Operation::leaseMillis))
                .bind("$6", numbers(batch, Operation::token));
        return rows(
                statement,
                row -> Answer.of(
                        Objects.requireNonNull(row.get(0, Integer.class)),
                        Objects.requireNonNull(row.get(1, String.class))));
    }

    @Override
    public Mono<Boolean> sweep(Connection connection) {
        return rows(
                        connection.createStatement("select holdfast_sweep_v1()"),
                        row -> Objects.requireNonNull(row.get(0, Boolean.class)))
                .single();
    }

    /**
     * Ends the session. A commit that waits for a replica stays committed then, and nothing follows it. A cancel request would end only the
     * wait, and the procedure would go on.
     */
    @Override
    public Mono<Void> interrupt(Session silent, Connection another) {
        return done(another.createStatement(END).bind("$1", silent.name()));
    }

    /** Renews no lease: this fails if the function is missing, or the user may not call it. */
    @Override
    public Mono<Void> ping(Connection connection) {
        return renew(connection, false, List.of()).then();
    }

    @Override
    public Mono<Listening> listen(Connection connection, String channel, InboxSettings inbox) {
        PostgresqlConnection listening = unwrap(connection);
        return Mono.defer(() -> {
            // Subscribes before LISTEN, so that no early message is missed. The subscription ends with the connection.
            Sinks.Many<String> heard = Sinks.many().unicast().onBackpressureBuffer();
            Disposable unused = listening
                    .getNotifications()
                    .subscribe(it -> pass(it, channel, heard), heard::tryEmitError, heard::tryEmitComplete);
            return done(connection.createStatement(LIVE).bind("$1", channel))
                    .then(done(connection.createStatement("listen \"" + channel + "\"")))
                    .thenReturn(new Notifications(heard.asFlux().flatMapIterable(Push::read)));
        });
    }

    @Override
    public Mono<Void> prepareInspector(Connection connection, SessionSettings settings) {
        String schema = settings.schema();
        return rows(
                        connection
                                .createStatement(PREPARE_INSPECTOR)
                                .bind("$1", Long.toString(settings.serverMillis()))
                                .bind("$2", schema == null ? "" : schema),
                        row -> true)
                .then();
    }

    @Override
    public String literal(String storedName) {
        return "convert_from(decode('" + HexFormat.of().formatHex(storedName.getBytes(StandardCharsets.UTF_8))
                + "', 'hex'), 'UTF8')";
    }

    @Override
    public String nameInHex() {
        return "encode(convert_to(name, 'UTF8'), 'hex')";
    }

    /** The server sends the messages by itself. */
    private record Notifications(Flux<Push> heard) implements Listening {

        @Override
        public void claimWaits() {}
    }

    private static void pass(Notification notification, String channel, Sinks.Many<String> heard) {
        String text = notification.getParameter();
        if (text != null && notification.getName().equals(channel)) {
            Sinks.EmitResult unused = heard.tryEmitNext(text);
        }
    }

    private static PostgresqlConnection unwrap(Connection connection) {
        if (connection instanceof PostgresqlConnection direct) {
            return direct;
        }
        PostgresqlConnection inner =
                connection instanceof Wrapped<?> wrapped ? wrapped.unwrap(PostgresqlConnection.class) : null;
        if (inner == null) {
            throw new UnusableException("the connection is not one of r2dbc-postgresql, but a "
                    + connection.getClass().getName()
                    + ": give the back end a factory of that driver, or one that wraps it");
        }
        return inner;
    }

    @Override
    public Optional<KnownError> explain(Throwable error) {
        if (error instanceof UnusableException) {
            return Optional.of(new KnownError(false, false, String.valueOf(error.getMessage())));
        }
        if (error instanceof RowLockedException) {
            return Optional.of(PostgresErrors.BUSY);
        }
        return error instanceof R2dbcException answered && answered.getSqlState() != null
                ? PostgresErrors.explain(answered.getSqlState())
                : Optional.empty();
    }

    /**
     * The prefetch makes the subscriber request before the driver sends the statement. Without it, the thread that sends requests afterwards.
     * Up to 1.1.1, the driver may then mix up the messages of an answer that has come meanwhile (its issue 717): it reports "metadata must not
     * be null", or loses an error.
     */
    private static <T> Flux<T> rows(Statement statement, Function<Readable, T> mapping) {
        return Flux.<Result>from(statement.execute()).concatMap(result -> PostgresDialect.<T>map(result, mapping), 1);
    }

    private static <T> Publisher<T> map(Result result, Function<Readable, T> mapping) {
        return result.map(mapping);
    }

    private static Mono<Void> done(Statement statement) {
        return Flux.<Result>from(statement.execute())
                .concatMap(Result::getRowsUpdated, 1) // as above
                .then();
    }

    private static String[] texts(List<Operation> batch, Function<Operation, String> text) {
        return batch.stream().map(text).toArray(String[]::new);
    }

    private static Long[] numbers(List<Operation> batch, Function<Operation, Long> number) {
        return batch.stream().map(number).toArray(Long[]::new);
    }
}
