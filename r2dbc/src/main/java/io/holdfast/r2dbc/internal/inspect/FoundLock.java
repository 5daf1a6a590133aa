package io.holdfast.r2dbc.internal.inspect;

import io.holdfast.r2dbc.R2dbcLockReport;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.spi.LockKind;
import io.r2dbc.spi.Readable;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * A row of the answer: one lock.
 *
 * @param key where the next page begins
 */
record FoundLock(Key key, R2dbcLockReport report) {

    /**
     * The key of a lock.
     *
     * @param storedName as in the table
     */
    record Key(String storedName, String kind) {

        /** Before all others. */
        static final Key FIRST = new Key("", "");
    }

    static FoundLock of(Readable row) {
        Key key = new Key(text(row, "name"), text(row, "kind"));
        long at = number(row, "at");
        long token = number(row, "token");
        return new FoundLock(
                key,
                new R2dbcLockReport(
                        LockText.lockName(key.storedName()),
                        type(key.kind()),
                        instant(at),
                        number(row, "holders"),
                        holders(row, key.kind(), at),
                        number(row, "queued"),
                        waiters(row),
                        number(row, "aside"),
                        number(row, "interested"),
                        token == 0 ? OptionalLong.empty() : OptionalLong.of(token)));
    }

    /** A token is the time of its grant, unless the server's clock was set back before. */
    private static List<R2dbcLockReport.Holder> holders(Readable row, String kind, long at) {
        List<String> ids = list(row, "holder_ids", String[].class);
        List<Long> slots = list(row, "holder_slots", Long[].class);
        List<Long> tokens = list(row, "holder_tokens", Long[].class);
        List<Long> left = list(row, "holder_micros", Long[].class);
        return each(ids, i -> {
            long token = tokens.get(i);
            boolean isSinceKnown = token <= at;
            return new R2dbcLockReport.Holder(
                    ids.get(i),
                    holding(kind, slots.get(i)),
                    token,
                    isSinceKnown ? instant(token) : Instant.EPOCH,
                    isSinceKnown ? micros(at - token) : Duration.ZERO,
                    micros(left.get(i)));
        });
    }

    private static List<R2dbcLockReport.Waiter> waiters(Readable row) {
        List<String> ids = list(row, "waiter_ids", String[].class);
        List<String> modes = list(row, "waiter_modes", String[].class);
        List<Integer> permits = list(row, "waiter_permits", Integer[].class);
        List<String> channels = list(row, "waiter_channels", String[].class);
        List<Boolean> listening = list(row, "waiter_listening", Boolean[].class);
        List<Long> silent = list(row, "waiter_micros", Long[].class);
        List<Long> leases = list(row, "waiter_leases", Long[].class);
        return each(
                ids,
                i -> new R2dbcLockReport.Waiter(
                        ids.get(i),
                        LockKind.valueOf(modes.get(i).toUpperCase(Locale.ROOT)),
                        permits.get(i),
                        channels.get(i),
                        listening.get(i),
                        micros(silent.get(i)),
                        Duration.ofMillis(leases.get(i))));
    }

    private static <T> List<T> each(List<String> ids, IntFunction<T> element) {
        return IntStream.range(0, ids.size()).mapToObj(element).toList();
    }

    /** An array of no rows is null. */
    private static <T> List<T> list(Readable row, String column, Class<T[]> type) {
        T[] elements = row.get(column, type);
        return elements == null ? List.of() : List.of(elements);
    }

    private static R2dbcLockReport.Type type(String kind) {
        return switch (kind) {
            case "mutex" -> R2dbcLockReport.Type.MUTEX;
            case "rw" -> R2dbcLockReport.Type.READ_WRITE;
            default -> R2dbcLockReport.Type.SEMAPHORE;
        };
    }

    /** The row of a lock itself is that of an exclusive holder. */
    private static LockKind holding(String kind, long slot) {
        return switch (kind) {
            case "mutex" -> LockKind.MUTEX;
            case "rw" -> slot == 0 ? LockKind.WRITE : LockKind.READ;
            default -> LockKind.SEMAPHORE;
        };
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** What changed since the statement began is not in the past. */
    private static Duration micros(long micros) {
        return Duration.of(Math.max(0, micros), ChronoUnit.MICROS);
    }

    private static String text(Readable row, String column) {
        return Objects.requireNonNull(row.get(column, String.class));
    }

    private static long number(Readable row, String column) {
        return Objects.requireNonNull(row.get(column, Long.class));
    }
}
