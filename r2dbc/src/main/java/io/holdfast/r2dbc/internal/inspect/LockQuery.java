package io.holdfast.r2dbc.internal.inspect;

import io.holdfast.LockReport;
import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.Result;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The query of an inspector: some locks, with their first holders and waiters from the views for operators. It only reads, and takes no row
 * lock. It is one statement, so all of its rows are of one instant. It has no parameters, since a driver would prepare it first.
 *
 * @param dialect how the database writes names
 */
record LockQuery(Dialect dialect) {

    private static final String TEXT = """
            with page as (select name, kind, token from holdfast_lock where slot = 0 and %1$s order by name, kind limit %2$d)
            select 'lock' as part, %3$s as name, kind, 1 as number, '' as claim, '' as mode, token, 0 as permits, 0 as all_permits,
                   0 as since_us, 0 as lease_us, '' as channel, 0 as is_listening, 0 as place
              from page
            union all
            select 'holder', %3$s, kind, number, claim, mode, token, permits, 0, held_us, left_us, '', 0, place
              from (select h.*, count(*) over (partition by h.name, h.kind) as number,
                           row_number() over (partition by h.name, h.kind order by h.left_us, h.token) as place
                      from page p join holdfast_holders h on h.name = p.name and h.kind = p.kind) held
             where place <= %4$d
            union all
            select state, %3$s, kind, number, claim, mode, 0, permits, all_permits, silent_us, lease_ms * 1000, channel,
                   case when is_listening then 1 else 0 end, place
              from (select w.*, count(*) over (partition by w.name, w.kind, w.state) as number,
                           row_number() over (partition by w.name, w.kind, w.state order by w.ticket) as place
                      from page p join holdfast_waiters w on w.name = p.name and w.kind = p.kind) waiting
             where place <= %5$d
             order by name, kind, place
            """;

    /** Emits the locks with this name, free ones too. */
    Mono<List<FoundLock>> named(Connection connection, String name) {
        return found(connection, "name = " + dialect.literal(LockText.name(name)), Integer.MAX_VALUE);
    }

    /** Emits the locks after that one, in the order of name and kind, free ones too. */
    Mono<List<FoundLock>> page(Connection connection, FoundLock.Key after, int most) {
        String name = dialect.literal(after.storedName());
        return found(connection, "name >= %1$s and (name > %1$s or kind > '%2$s')".formatted(name, after.kind()), most);
    }

    private Mono<List<FoundLock>> found(Connection connection, String which, int most) {
        String sql = TEXT.formatted(which, most, dialect.nameInHex(), LockReport.MOST_HOLDERS, LockReport.MOST_WAITERS);
        return Mono.defer(() -> {
            Map<FoundLock.Key, FoundLock> locks = new LinkedHashMap<>();
            return Flux.<Result>from(connection.createStatement(sql).execute())
                    .concatMap(
                            result -> result.map(row -> {
                                locks.computeIfAbsent(FoundLock.Key.of(row), FoundLock::new)
                                        .add(row);
                                return true;
                            }),
                            1)
                    .then(Mono.fromSupplier(() -> List.copyOf(locks.values())));
        });
    }
}
