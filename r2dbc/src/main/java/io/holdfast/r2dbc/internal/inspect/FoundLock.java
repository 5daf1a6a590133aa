package io.holdfast.r2dbc.internal.inspect;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.spi.support.Printable;
import io.r2dbc.spi.Readable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/** A lock in the answer of the database: its row, and those of its first holders and waiters. Not thread-safe. */
final class FoundLock {

    /**
     * The key of a lock.
     *
     * @param storedName the name as in the table
     */
    record Key(String storedName, String kind) {

        /** A key before all others. */
        static final Key FIRST = new Key("", "");

        static Key of(Readable row) {
            byte[] name = HexFormat.of().parseHex(text(row, "name"));
            return new Key(new String(name, StandardCharsets.UTF_8), text(row, "kind"));
        }
    }

    private final Key key;
    private long token;
    private final Map<String, Long> numbers = new LinkedHashMap<>();
    private final List<LockHolder> holders = new ArrayList<>();
    private final List<LockWaiter> waiters = new ArrayList<>();

    FoundLock(Key key) {
        this.key = key;
    }

    Key key() {
        return key;
    }

    /** Adds a row of the answer: a lock, a holder, or a waiter of some state; and the number of rows of that sort, of which some may be left out. */
    void add(Readable row) {
        String part = text(row, "part");
        numbers.put(part, number(row, "number"));
        switch (part) {
            case "lock" -> token = number(row, "token");
            case "holder" -> holders.add(holder(row));
            case "queued" -> waiters.add(waiter(row));
            default -> {} // only their number is reported
        }
    }

    /** Whether only the last token is left of it. */
    boolean isIdle() {
        return numbers.size() == 1;
    }

    LockReport report() {
        Map<String, String> details = new LinkedHashMap<>();
        if (number("aside") > 0) {
            details.put(
                    "aside",
                    number("aside")
                            + ", whose clients could not be notified; they get their places back with their next attempt");
        }
        if (number("hint") > 0) {
            details.put("want a hint", Long.toString(number("hint")));
        }
        return new LockReport(
                LockText.lockName(key.storedName()),
                type(key.kind()),
                number("holder"),
                holders.stream()
                        .sorted(Comparator.comparingLong(LockHolder::fencingToken))
                        .toList(),
                number("queued"),
                waiters,
                token == 0 ? OptionalLong.empty() : OptionalLong.of(token),
                details,
                List.of());
    }

    private long number(String part) {
        return numbers.getOrDefault(part, 0L);
    }

    /** A token is the time of its grant, unless the server's clock was set back before. */
    private static LockHolder holder(Readable row) {
        boolean isSinceKnown = number(row, "since_us") >= 0;
        Map<String, String> details = new LinkedHashMap<>();
        if (isSinceKnown) {
            details.put(
                    "since",
                    Instant.EPOCH.plus(number(row, "token"), ChronoUnit.MICROS).toString());
        }
        return new LockHolder(
                text(row, "claim"),
                kind(row),
                (int) number(row, "permits"),
                number(row, "token"),
                isSinceKnown ? Optional.of(micros(number(row, "since_us"))) : Optional.empty(),
                Optional.of(micros(number(row, "lease_us"))),
                details);
    }

    /** A claim that has sent no attempt for half of its lease counts as dead. */
    private static LockWaiter waiter(Readable row) {
        Duration silent = micros(number(row, "since_us"));
        Duration lease = micros(number(row, "lease_us"));
        Map<String, String> details = new LinkedHashMap<>();
        details.put("last attempt", Printable.duration(silent) + " ago");
        if (silent.compareTo(lease.dividedBy(2)) >= 0) {
            details.put("stale", "it loses its place when its turn comes");
        }
        details.put("lease", Printable.duration(lease));
        if (!text(row, "channel").isEmpty()) {
            details.put("channel", text(row, "channel"));
        }
        details.put("listening", number(row, "is_listening") != 0 ? "yes" : "no");
        return new LockWaiter(
                text(row, "claim"),
                kind(row),
                (int) number(row, "permits"),
                (int) number(row, "all_permits"),
                Optional.empty(),
                details);
    }

    private static LockKind kind(Readable row) {
        return LockKind.valueOf(text(row, "mode").toUpperCase(Locale.ROOT));
    }

    private static LockReport.Type type(String kind) {
        return switch (kind) {
            case "mutex" -> LockReport.Type.MUTEX;
            case "rw" -> LockReport.Type.READ_WRITE;
            default -> LockReport.Type.SEMAPHORE;
        };
    }

    /** A time after the begin of the statement counts as zero. */
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
