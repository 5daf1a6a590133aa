package io.holdfast.r2dbc.internal.inspect;

import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
    }

    /**
     * A row of the answer.
     *
     * @param part what it is: a lock, a holder, or the state of a waiter
     * @param number how many rows of that sort the lock has
     * @param permits the permits that a holder has, or that a waiter wants
     * @param allPermits the permits of the semaphore, by the options of the waiter
     * @param sinceMicros the time since the grant, or since the last attempt
     * @param leaseMicros the time until the end of the lease, or the lease that a waiter wants
     */
    record Row(
            String part,
            Key key,
            long number,
            String claim,
            String mode,
            long token,
            long permits,
            int allPermits,
            long sinceMicros,
            long leaseMicros,
            String channel,
            boolean isListening) {}

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

    void add(Row row) {
        numbers.put(row.part(), row.number());
        switch (row.part()) {
            case "lock" -> token = row.token();
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
    private static LockHolder holder(Row row) {
        boolean isSinceKnown = row.sinceMicros() >= 0;
        Map<String, String> details = new LinkedHashMap<>();
        addPermits(details, "permits taken", row.permits());
        if (isSinceKnown) {
            details.put(
                    "since", Instant.EPOCH.plus(row.token(), ChronoUnit.MICROS).toString());
        }
        return new LockHolder(
                row.claim(),
                kind(row),
                row.token(),
                isSinceKnown ? Optional.of(micros(row.sinceMicros())) : Optional.empty(),
                Optional.of(micros(row.leaseMicros())),
                details);
    }

    /** A claim that has sent no attempt for half of its lease counts as dead. */
    private static LockWaiter waiter(Row row) {
        Duration silent = micros(row.sinceMicros());
        Duration lease = micros(row.leaseMicros());
        Map<String, String> details = new LinkedHashMap<>();
        addPermits(details, "permits wanted", row.permits());
        details.put("last attempt", Printable.duration(silent) + " ago");
        if (silent.compareTo(lease.dividedBy(2)) >= 0) {
            details.put("stale", "it loses its place when its turn comes");
        }
        details.put("lease", Printable.duration(lease));
        if (!row.channel().isEmpty()) {
            details.put("channel", row.channel());
        }
        details.put("listening", row.isListening() ? "yes" : "no");
        return new LockWaiter(row.claim(), kind(row), row.allPermits(), Optional.empty(), details);
    }

    /** Adds the number of permits, unless it is one, as usual. */
    private static void addPermits(Map<String, String> details, String what, long permits) {
        if (permits > 1) {
            details.put(what, Long.toString(permits));
        }
    }

    private static LockKind kind(Row row) {
        return LockKind.valueOf(row.mode().toUpperCase(Locale.ROOT));
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
}
