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
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A lock in the answer of the database.
 *
 * @param key the key from which the next page begins
 * @param isIdle whether only the last token is left of it
 */
record FoundLock(Key key, LockReport report, boolean isIdle) {

    /**
     * The key of a lock.
     *
     * @param storedName the name as in the table
     */
    record Key(String storedName, String kind) {

        /** A key before all others. */
        static final Key FIRST = new Key("", "");
    }

    /** The number of claims of each sort. */
    record Counts(long holders, long queued, long aside, long interested) {

        boolean isIdle() {
            return holders + queued + aside + interested == 0;
        }
    }

    static FoundLock of(Key key, long token, Counts counts, List<LockHolder> holders, List<LockWaiter> waiters) {
        Map<String, String> details = new LinkedHashMap<>();
        if (counts.aside() > 0) {
            details.put(
                    "aside",
                    counts.aside()
                            + ", whose clients could not be notified; they get their places back with their next attempt");
        }
        if (counts.interested() > 0) {
            details.put("want a hint", Long.toString(counts.interested()));
        }
        LockReport report = new LockReport(
                LockText.lockName(key.storedName()),
                type(key.kind()),
                counts.holders(),
                holders.stream()
                        .sorted(Comparator.comparingLong(LockHolder::fencingToken))
                        .toList(),
                counts.queued(),
                waiters,
                token == 0 ? OptionalLong.empty() : OptionalLong.of(token),
                details,
                List.of());
        return new FoundLock(key, report, counts.isIdle());
    }

    /**
     * Creates a holder. A token is the time of its grant, unless the server's clock was set back before.
     *
     * @param at the time of the answer, in microseconds
     */
    static LockHolder holder(String kind, String id, long slot, long token, long taken, long at, long leftMicros) {
        boolean isSinceKnown = token <= at;
        Map<String, String> details = new LinkedHashMap<>();
        addPermits(details, "permits taken", taken);
        if (isSinceKnown) {
            details.put("since", Instant.EPOCH.plus(token, ChronoUnit.MICROS).toString());
        }
        return new LockHolder(
                id,
                holding(kind, slot),
                token,
                isSinceKnown ? Optional.of(micros(at - token)) : Optional.empty(),
                Optional.of(micros(leftMicros)),
                details);
    }

    /** Adds the number of permits, unless it is one, as usual. */
    private static void addPermits(Map<String, String> details, String what, long permits) {
        if (permits > 1) {
            details.put(what, Long.toString(permits));
        }
    }

    /**
     * Creates a claim in the queue. If it has sent no attempt for half of its lease, it counts as dead.
     *
     * @param permits the permits of the semaphore, by the claim's options
     * @param wanted how many of them the claim wants
     * @param channel the channel of its client; empty for a claim that cannot be notified
     * @param isListening whether that client listens
     */
    static LockWaiter waiter(
            String id,
            String mode,
            int permits,
            long wanted,
            String channel,
            boolean isListening,
            long silentMicros,
            long leaseMillis) {
        Duration silent = micros(silentMicros);
        Duration lease = Duration.ofMillis(leaseMillis);
        Map<String, String> details = new LinkedHashMap<>();
        addPermits(details, "permits wanted", wanted);
        details.put("last attempt", Printable.duration(silent) + " ago");
        if (silent.compareTo(lease.dividedBy(2)) >= 0) {
            details.put("stale", "it loses its place when its turn comes");
        }
        details.put("lease", Printable.duration(lease));
        if (!channel.isEmpty()) {
            details.put("channel", channel);
        }
        details.put("listening", isListening ? "yes" : "no");
        LockKind kind = LockKind.valueOf(mode.toUpperCase(Locale.ROOT));
        return new LockWaiter(id, kind, permits, Optional.empty(), details);
    }

    private static LockReport.Type type(String kind) {
        return switch (kind) {
            case "mutex" -> LockReport.Type.MUTEX;
            case "rw" -> LockReport.Type.READ_WRITE;
            default -> LockReport.Type.SEMAPHORE;
        };
    }

    /** The row of the lock itself belongs to an exclusive holder. */
    private static LockKind holding(String kind, long slot) {
        return switch (kind) {
            case "mutex" -> LockKind.MUTEX;
            case "rw" -> slot == 0 ? LockKind.WRITE : LockKind.READ;
            default -> LockKind.SEMAPHORE;
        };
    }

    /** A time after the begin of the statement counts as zero. */
    private static Duration micros(long micros) {
        return Duration.of(Math.max(0, micros), ChronoUnit.MICROS);
    }
}
