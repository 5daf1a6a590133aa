package io.holdfast.r2dbc.internal.inspect;

import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The queries for MariaDB and MySQL. They have no parameters, since a driver would prepare the statements first; names are hexadecimal.
 * Four statements share a read-only transaction, so they see one instant. A client without a sign of life for a minute counts as not
 * listening.
 */
final class MariaDbQueries implements LockQueries {

    private static final String SNAPSHOT = "start transaction with consistent snapshot, read only";

    private static final String NOW = "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))";

    private static final String KEY = "lower(hex(name)) as name, kind";

    private static final String LOCKS = "select " + KEY + ", token, " + NOW
            + " as at_us from holdfast_lock where slot = 0 and %s" + " order by holdfast_lock.name, kind limit %d";

    private static final String HOLDERS =
            "select " + KEY + ", holder, slot, token, taken, expires_us - " + NOW + " as left_us, number from"
                    + " (select name, kind, slot, token, taken, holder, expires_us,"
                    + " row_number() over (partition by name, kind order by expires_us, slot) as place,"
                    + " count(*) over (partition by name, kind) as number"
                    + " from holdfast_lock where holder is not null and expires_us > " + NOW + " and %s) h"
                    + " where place <= " + LockReport.MOST_HOLDERS;

    private static final String COUNTS =
            "select " + KEY + ", place, count(*) as number from holdfast_waiter where %s group by"
                    + " holdfast_waiter.name, kind, place";

    private static final String WAITERS = "select " + KEY + ", id, mode, permits, taken, w.channel, lease_ms, " + NOW
            + " - looked_us as silent_us, coalesce(c.seen_us > " + NOW + " - 60000000, 0) as listening from"
            + " (select name, kind, id, mode, permits, taken, channel, lease_ms, looked_us, ticket,"
            + " row_number() over (partition by name, kind order by ticket) as place"
            + " from holdfast_waiter where place = 'queue' and %s) w"
            + " left join holdfast_client c on c.channel = w.channel where w.place <= " + LockReport.MOST_WAITERS
            + " order by w.name, w.kind, w.ticket";

    private record Lock(FoundLock.Key key, long token, long at) {}

    private record Holder(FoundLock.Key key, Function<Long, LockHolder> at, long number) {}

    private record Count(FoundLock.Key key, String place, long number) {}

    private record Waiter(FoundLock.Key key, LockWaiter waiter) {}

    @Override
    public Mono<Void> prepare(Connection connection, SessionSettings settings) {
        String schema = settings.schema();
        long seconds = Math.max(1, settings.serverMillis() / 1000);
        return (schema == null ? Mono.<Void>empty() : run(connection, "use `" + schema.replace("`", "``") + "`"))
                .then(run(connection, "set session lock_wait_timeout = " + seconds))
                .then(run(connection, "set session transaction isolation level repeatable read"))
                .then(run(connection, SNAPSHOT));
    }

    private static Mono<Void> run(Connection connection, String sql) {
        return Flux.defer(() -> connection.createStatement(sql).execute())
                .concatMap(Result::getRowsUpdated)
                .then();
    }

    @Override
    public Flux<FoundLock> named(Connection connection, String name) {
        String its = "name = " + literal(LockText.name(name));
        return found(connection, LOCKS.formatted(its, Integer.MAX_VALUE));
    }

    @Override
    public Flux<FoundLock> page(Connection connection, FoundLock.Key after, int most) {
        String name = literal(after.storedName());
        String behind = "(name > %s or name = %s and kind > '%s')".formatted(name, name, after.kind());
        return found(connection, LOCKS.formatted(behind, most));
    }

    private static Flux<FoundLock> found(Connection connection, String locks) {
        return rows(connection, locks, row -> new Lock(key(row), number(row, "token"), number(row, "at_us")))
                .flatMapMany(page -> page.isEmpty() ? Flux.empty() : withClaims(connection, page));
    }

    /** Reads the claims of all locks between the first and the last name of the page. */
    private static Flux<FoundLock> withClaims(Connection connection, List<Lock> page) {
        String between = "name between %s and %s"
                .formatted(
                        literal(page.get(0).key().storedName()),
                        literal(page.get(page.size() - 1).key().storedName()));
        return rows(connection, HOLDERS.formatted(between), MariaDbQueries::holder)
                .flatMapMany(holders -> rows(connection, COUNTS.formatted(between), MariaDbQueries::count)
                        .flatMapMany(counts -> rows(connection, WAITERS.formatted(between), MariaDbQueries::waiter)
                                .flatMapIterable(waiters -> merged(page, holders, counts, waiters))));
    }

    private static List<FoundLock> merged(
            List<Lock> page, List<Holder> holders, List<Count> counts, List<Waiter> waiters) {
        Map<FoundLock.Key, List<Holder>> held = by(holders, Holder::key);
        Map<FoundLock.Key, List<Count>> counted = by(counts, Count::key);
        Map<FoundLock.Key, List<Waiter>> queued = by(waiters, Waiter::key);
        List<FoundLock> found = new ArrayList<>();
        for (Lock lock : page) {
            List<Holder> its = held.getOrDefault(lock.key(), List.of());
            List<Count> places = counted.getOrDefault(lock.key(), List.of());
            FoundLock.Counts all = new FoundLock.Counts(
                    its.isEmpty() ? 0 : its.get(0).number(),
                    inPlace(places, "queue"),
                    inPlace(places, "aside"),
                    inPlace(places, "interest"));
            found.add(FoundLock.of(
                    lock.key(),
                    lock.token(),
                    all,
                    its.stream().map(it -> it.at().apply(lock.at())).toList(),
                    queued.getOrDefault(lock.key(), List.of()).stream()
                            .map(Waiter::waiter)
                            .toList()));
        }
        return found;
    }

    private static long inPlace(List<Count> counts, String place) {
        return counts.stream()
                .filter(it -> it.place().startsWith(place))
                .mapToLong(Count::number)
                .sum();
    }

    private static <T> Map<FoundLock.Key, List<T>> by(List<T> rows, Function<T, FoundLock.Key> key) {
        Map<FoundLock.Key, List<T>> grouped = new LinkedHashMap<>();
        rows.forEach(row ->
                grouped.computeIfAbsent(key.apply(row), it -> new ArrayList<>()).add(row));
        return grouped;
    }

    private static Holder holder(Readable row) {
        FoundLock.Key key = key(row);
        String id = text(row, "holder");
        long slot = number(row, "slot");
        long token = number(row, "token");
        long taken = number(row, "taken");
        long left = number(row, "left_us");
        return new Holder(
                key, at -> FoundLock.holder(key.kind(), id, slot, token, taken, at, left), number(row, "number"));
    }

    private static Count count(Readable row) {
        return new Count(key(row), text(row, "place"), number(row, "number"));
    }

    private static Waiter waiter(Readable row) {
        return new Waiter(
                key(row),
                FoundLock.waiter(
                        text(row, "id"),
                        text(row, "mode"),
                        (int) number(row, "permits"),
                        number(row, "taken"),
                        text(row, "channel"),
                        number(row, "listening") != 0,
                        number(row, "silent_us"),
                        number(row, "lease_ms")));
    }

    private static <T> Mono<List<T>> rows(Connection connection, String sql, Function<Readable, T> mapping) {
        return Flux.<Result>from(connection.createStatement(sql).execute())
                .concatMap(result -> result.map(mapping))
                .collectList();
    }

    /** The literal of an empty name has no digits. */
    private static String literal(String name) {
        return "x'" + HexFormat.of().formatHex(name.getBytes(StandardCharsets.UTF_8)) + "'";
    }

    private static FoundLock.Key key(Readable row) {
        byte[] name = HexFormat.of().parseHex(text(row, "name"));
        return new FoundLock.Key(new String(name, StandardCharsets.UTF_8), text(row, "kind"));
    }

    private static String text(Readable row, String column) {
        return Objects.requireNonNull(row.get(column, String.class));
    }

    private static long number(Readable row, String column) {
        return Objects.requireNonNull(row.get(column, Long.class));
    }
}
