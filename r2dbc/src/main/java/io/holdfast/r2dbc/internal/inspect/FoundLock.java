package io.holdfast.r2dbc.internal.inspect;

import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Printable;
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
 * One lock of the answer.
 *
 * @param key where the next page begins
 * @param isIdle whether only the last token is left of it
 */
record FoundLock(Key key, LockReport report, boolean isIdle) {

    /**
     * The key of a lock.
     *
     * @param storedName as in the table
     */
    record Key(String storedName, String kind) {

        /** Before all others. */
        static final Key FIRST = new Key("", "");
    }

    /** How many claims there are of each sort. */
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
                    counts.aside() + ", which could not be told, and get their places back with their next attempt");
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
     * A token is the time of its grant, unless the server's clock was set back before.
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

    /** One is the usual. */
    private static void addPermits(Map<String, String> details, String what, long permits) {
        if (permits > 1) {
            details.put(what, Long.toString(permits));
        }
    }

    /**
     * A claim in the queue. One that has not attempted for half of its lease is taken for dead.
     *
     * @param permits by how many it judges
     * @param wanted how many of them it wants
     * @param channel of its client; empty for a claim that only looks
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

    /** The row of a lock itself is that of an exclusive holder. */
    private static LockKind holding(String kind, long slot) {
        return switch (kind) {
            case "mutex" -> LockKind.MUTEX;
            case "rw" -> slot == 0 ? LockKind.WRITE : LockKind.READ;
            default -> LockKind.SEMAPHORE;
        };
    }

    /** What changed since the statement began is not in the past. */
    private static Duration micros(long micros) {
        return Duration.of(Math.max(0, micros), ChronoUnit.MICROS);
    }
}
