package io.holdfast.redis.internal.inspect;

import io.holdfast.redis.LockReport;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.holdfast.spi.LockKind;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
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
     * Reads all of it.
     *
     * @param asked the locks that the script was asked for, in their order
     */
    public static List<LockReport> read(List<LockKeys> asked, List<?> answer) {
        ReportReader reader = new ReportReader(asked, answer);
        List<LockReport> reports = new ArrayList<>();
        reader.answer.forEachRemaining(lock -> reports.add(reader.report(parts(lock))));
        return reports;
    }

    private LockReport report(Iterator<?> lock) {
        LockKeys keys = asked.get((int) number(lock.next()) - 1);
        List<String> foreign = list(lock.next()).stream()
                .map(suffix -> keys.holder() + suffix)
                .sorted()
                .toList();
        long token = number(lock.next());
        long held = number(lock.next());
        List<LockReport.Holder> holders =
                list(lock.next()).stream().map(holder -> holder(parts(holder))).toList();
        long waiting = number(lock.next());
        List<LockReport.Waiter> waiters =
                list(lock.next()).stream().map(waiter -> waiter(parts(waiter))).toList();
        return new LockReport(
                keys.lockName(),
                type(keys.type()),
                instant(now),
                held,
                holders,
                waiting,
                waiters,
                number(lock.next()),
                token > 0 ? OptionalLong.of(token) : OptionalLong.empty(),
                foreign);
    }

    private LockReport.Holder holder(Iterator<?> holder) {
        String id = text(holder.next());
        LockKind kind = kind(holder.next());
        String channel = text(holder.next());
        long token = number(holder.next());
        Duration lease = Duration.ofMillis(number(holder.next()));
        long since = number(holder.next());
        long expires = number(holder.next());
        Duration held = since == 0 ? Duration.ZERO : between(since, now);
        Duration left = between(now, expires);
        return new LockReport.Holder(id, kind, channel, token, instant(since), held, left, lease);
    }

    private LockReport.Waiter waiter(Iterator<?> waiter) {
        String id = text(waiter.next());
        LockKind kind = kind(waiter.next());
        int permits = (int) number(waiter.next());
        String channel = text(waiter.next());
        Duration lease = Duration.ofMillis(number(waiter.next()));
        Duration came = between(number(waiter.next()), now);
        Duration silent = between(number(waiter.next()), now);
        return new LockReport.Waiter(id, kind, permits, channel, came, silent, lease);
    }

    private static LockReport.Type type(LockKeys.Type type) {
        return switch (type) {
            case MUTEX -> LockReport.Type.MUTEX;
            case READ_WRITE -> LockReport.Type.READ_WRITE;
            case SEMAPHORE -> LockReport.Type.SEMAPHORE;
        };
    }

    private static LockKind kind(Object word) {
        return LockKind.valueOf(text(word).toUpperCase(Locale.ROOT));
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** The server's clock may have been set back in between. */
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
