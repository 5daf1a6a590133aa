package io.holdfast.r2dbc.internal.inspect;

import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The queries for PostgreSQL. They only read, and take no row lock. One statement sees one instant. A client listens if its listening
 * connection has an advisory lock in {@code pg_locks}.
 */
final class PostgresQueries implements LockQueries {

    /**
     * Settings of a connection that is closed afterwards. Sequential scans are off: a queue that has just grown has no statistics, and
     * would be read as a whole for each lock.
     */
    private static final String PREPARE = """
            select set_config('default_transaction_read_only', 'on', false),
                   set_config('statement_timeout', $1, false),
                   set_config('jit', 'off', false),
                   set_config('enable_seqscan', 'off', false),
                   set_config('application_name', 'holdfast inspector', false),
                   set_config('search_path', case $2 when '' then current_setting('search_path') else quote_ident($2) end, false)
            """;

    /** A subquery in the first place of this text selects the locks. The other two places are limits. */
    private static final String REPORTS = """
            with listening as materialized (
              select (classid::bigint << 32) | objid::bigint as key from pg_locks
               where locktype = 'advisory' and objsubid = 1 and mode = 'ExclusiveLock' and granted
                 and database = (select oid from pg_database where datname = current_database()))
            select l.name, l.kind, l.token, (extract(epoch from statement_timestamp()) * 1000000)::bigint as at,
                   held.number as holders, h.ids as holder_ids, h.slots as holder_slots, h.tokens as holder_tokens, h.taken as holder_taken,
                   h.micros as holder_micros,
                   wait.queued, wait.aside, wait.interested,
                   w.ids as waiter_ids, w.modes as waiter_modes, w.permits as waiter_permits, w.wanted as waiter_wanted,
                   w.channels as waiter_channels,
                   w.listening as waiter_listening, w.micros as waiter_micros, w.leases as waiter_leases
              from (%s) l
             cross join lateral (
               select count(*) as number from holdfast_lock o
                where o.name = l.name and o.kind = l.kind and o.holder is not null and o.expires_at > statement_timestamp()) held
             cross join lateral (
               select array_agg(f.holder order by f.expires_at, f.slot) as ids, array_agg(f.slot order by f.expires_at, f.slot) as slots,
                      array_agg(f.token order by f.expires_at, f.slot) as tokens, array_agg(f.taken order by f.expires_at, f.slot) as taken,
                      array_agg((extract(epoch from f.expires_at - statement_timestamp()) * 1000000)::bigint order by f.expires_at, f.slot) as micros
                 from (select * from holdfast_lock o
                        where o.name = l.name and o.kind = l.kind and o.holder is not null and o.expires_at > statement_timestamp()
                        order by o.expires_at, o.slot limit %d) f) h
             cross join lateral (
               select count(*) filter (where q.place = 'queue') as queued, count(*) filter (where q.place like 'aside%%') as aside,
                      count(*) filter (where q.place = 'interest') as interested
                 from holdfast_waiter q where q.name = l.name and q.kind = l.kind) wait
             cross join lateral (
               select array_agg(f.id order by f.ticket) as ids, array_agg(f.mode order by f.ticket) as modes,
                      array_agg(f.permits order by f.ticket) as permits, array_agg(f.taken order by f.ticket) as wanted,
                      array_agg(f.channel order by f.ticket) as channels,
                      array_agg(f.channel <> '' and hashtextextended(f.channel, 0) in (select key from listening) order by f.ticket) as listening,
                      array_agg((extract(epoch from statement_timestamp() - f.looked_at) * 1000000)::bigint order by f.ticket) as micros,
                      array_agg(f.lease_ms order by f.ticket) as leases
                 from (select * from holdfast_waiter q where q.name = l.name and q.kind = l.kind and q.place = 'queue'
                        order by q.ticket limit %d) f) w
             order by l.name, l.kind
            """;

    private static final String NAMED =
            reports("select name, kind, token from holdfast_lock where name = $1 and slot = 0");

    private static final String PAGE = reports(
            "select name, kind, token from holdfast_lock where slot = 0 and (name, kind) > ($1, $2) order by name, kind limit $3");

    private static String reports(String locks) {
        return REPORTS.formatted(locks, LockReport.MOST_HOLDERS, LockReport.MOST_WAITERS);
    }

    @Override
    public Mono<Void> prepare(Connection connection, SessionSettings settings) {
        String schema = settings.schema();
        return Flux.<Result>from(connection
                        .createStatement(PREPARE)
                        .bind("$1", Long.toString(settings.serverMillis()))
                        .bind("$2", schema == null ? "" : schema)
                        .execute())
                .concatMap(result -> result.map(row -> true))
                .then();
    }

    @Override
    public Flux<FoundLock> named(Connection connection, String name) {
        return found(connection.createStatement(NAMED).bind("$1", LockText.name(name)));
    }

    @Override
    public Flux<FoundLock> page(Connection connection, FoundLock.Key after, int most) {
        return found(connection
                .createStatement(PAGE)
                .bind("$1", after.storedName())
                .bind("$2", after.kind())
                .bind("$3", most));
    }

    private static Flux<FoundLock> found(Statement statement) {
        return Flux.<Result>from(statement.execute()).concatMap(result -> result.map(PostgresQueries::lock));
    }

    private static FoundLock lock(Readable row) {
        FoundLock.Key key = new FoundLock.Key(text(row, "name"), text(row, "kind"));
        return FoundLock.of(
                key,
                number(row, "token"),
                new FoundLock.Counts(
                        number(row, "holders"), number(row, "queued"), number(row, "aside"), number(row, "interested")),
                holders(row, key.kind(), number(row, "at")),
                waiters(row));
    }

    private static List<LockHolder> holders(Readable row, String kind, long at) {
        List<String> ids = list(row, "holder_ids", String[].class);
        List<Long> slots = list(row, "holder_slots", Long[].class);
        List<Long> tokens = list(row, "holder_tokens", Long[].class);
        List<Integer> taken = list(row, "holder_taken", Integer[].class);
        List<Long> left = list(row, "holder_micros", Long[].class);
        return each(
                ids,
                i -> FoundLock.holder(kind, ids.get(i), slots.get(i), tokens.get(i), taken.get(i), at, left.get(i)));
    }

    private static List<LockWaiter> waiters(Readable row) {
        List<String> ids = list(row, "waiter_ids", String[].class);
        List<String> modes = list(row, "waiter_modes", String[].class);
        List<Integer> permits = list(row, "waiter_permits", Integer[].class);
        List<Integer> wanted = list(row, "waiter_wanted", Integer[].class);
        List<String> channels = list(row, "waiter_channels", String[].class);
        List<Boolean> listening = list(row, "waiter_listening", Boolean[].class);
        List<Long> silent = list(row, "waiter_micros", Long[].class);
        List<Long> leases = list(row, "waiter_leases", Long[].class);
        return each(
                ids,
                i -> FoundLock.waiter(
                        ids.get(i),
                        modes.get(i),
                        permits.get(i),
                        wanted.get(i),
                        channels.get(i),
                        listening.get(i),
                        silent.get(i),
                        leases.get(i)));
    }

    private static <T> List<T> each(List<String> ids, IntFunction<T> element) {
        return IntStream.range(0, ids.size()).mapToObj(element).toList();
    }

    /** The array is null if there are no rows. */
    private static <T> List<T> list(Readable row, String column, Class<T[]> type) {
        T[] elements = row.get(column, type);
        return elements == null ? List.of() : List.of(elements);
    }

    private static String text(Readable row, String column) {
        return Objects.requireNonNull(row.get(column, String.class));
    }

    private static long number(Readable row, String column) {
        return Objects.requireNonNull(row.get(column, Long.class));
    }
}
