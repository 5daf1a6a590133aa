package io.holdfast.redis.internal.inspect;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.redis.internal.error.KnownError;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads the answer of {@code inspect.lua}. */
public final class ReportReader {

    private final List<LockKeys> asked;
    private final Iterator<?> answer;
    private final long now;

    private ReportReader(List<LockKeys> asked, List<?> answer) {
        this.asked = asked;
        this.answer = answer.iterator();
        now = number(this.answer.next());
    }

    /**
     * Reads the whole answer.
     *
     * @param asked the locks of the script call, in their order
     */
    public static List<LockReport> read(List<LockKeys> asked, List<?> answer) {
        ReportReader reader = new ReportReader(asked, answer);
        List<LockReport> reports = new ArrayList<>();
        reader.answer.forEachRemaining(lock -> reports.add(reader.report(parts(lock))));
        return reports;
    }

    private static String warning(LockKeys keys, String suffix) {
        if (suffix.equals("NEWER")) {
            return KnownError.NEWER;
        }
        return "There is a foreign value under the key '%s', which this library refuses to touch: acquire and release fail until you remove it. This report lacks the data that belongs under that key."
                .formatted(keys.holder() + suffix);
    }

    private LockReport report(Iterator<?> lock) {
        LockKeys keys = asked.get((int) number(lock.next()) - 1);
        List<String> foreign = list(lock.next()).stream()
                .map(suffix -> warning(keys, text(suffix)))
                .sorted()
                .toList();
        long token = number(lock.next());
        long held = number(lock.next());
        List<LockHolder> holders = list(lock.next()).stream()
                .map(holder -> holder(parts(holder)))
                .sorted(Comparator.comparingLong(LockHolder::fencingToken))
                .toList();
        long waiting = number(lock.next());
        List<LockWaiter> waiters =
                list(lock.next()).stream().map(waiter -> waiter(parts(waiter))).toList();
        long interests = number(lock.next());
        return new LockReport(
                keys.lockName(),
                keys.type(),
                held,
                holders,
                waiting,
                waiters,
                token > 0 ? OptionalLong.of(token) : OptionalLong.empty(),
                interests == 0 ? Map.of() : Map.of("want a hint", Long.toString(interests)),
                foreign);
    }

    private LockHolder holder(Iterator<?> holder) {
        String id = text(holder.next());
        LockKind kind = kind(holder.next());
        int permits = (int) number(holder.next());
        String channel = text(holder.next());
        long token = number(holder.next());
        Duration lease = Duration.ofMillis(number(holder.next()));
        long since = number(holder.next());
        Duration remaining = between(now, number(holder.next()));
        boolean isSinceKnown = since != 0;
        Map<String, String> details = new LinkedHashMap<>();
        if (isSinceKnown) {
            details.put("since", Instant.EPOCH.plus(since, ChronoUnit.MICROS).toString());
        }
        details.put("lease", Printable.duration(lease));
        addChannel(details, channel);
        Optional<Duration> held = isSinceKnown ? Optional.of(between(since, now)) : Optional.empty();
        return new LockHolder(id, kind, permits, token, held, Optional.of(remaining), details);
    }

    /** Adds the channel; a claim that never waited has none. */
    private static void addChannel(Map<String, String> details, String channel) {
        if (!channel.isEmpty()) {
            details.put("channel", channel);
        }
    }

    /** Reads a waiter. A waiter that sent no attempt for half of its lease counts as dead. */
    private LockWaiter waiter(Iterator<?> waiter) {
        String id = text(waiter.next());
        LockKind kind = kind(waiter.next());
        int permits = (int) number(waiter.next());
        int allPermits = (int) number(waiter.next());
        String channel = text(waiter.next());
        Duration lease = Duration.ofMillis(number(waiter.next()));
        Duration waiting = between(number(waiter.next()), now);
        Duration silent = between(number(waiter.next()), now);
        Map<String, String> details = new LinkedHashMap<>();
        details.put("last attempt", Printable.duration(silent) + " ago");
        if (silent.compareTo(lease.dividedBy(2)) >= 0) {
            details.put("stale", "it loses its place when its turn comes");
        }
        details.put("lease", Printable.duration(lease));
        addChannel(details, channel);
        return new LockWaiter(id, kind, permits, allPermits, Optional.of(waiting), details);
    }

    private static LockKind kind(Object word) {
        return LockKind.valueOf(text(word).toUpperCase(Locale.ROOT));
    }

    /** Returns zero at least: the server's clock may have been set back between the two times. */
    private static Duration between(long fromMicros, long toMicros) {
        return Duration.of(Math.max(0, toMicros - fromMicros), ChronoUnit.MICROS);
    }

    private static long number(Object part) {
        return ((Number) part).longValue();
    }

    private static String text(Object part) {
        return (String) part;
    }

    private static List<?> list(Object part) {
        return (List<?>) part;
    }

    private static Iterator<?> parts(Object part) {
        return list(part).iterator();
    }
}
