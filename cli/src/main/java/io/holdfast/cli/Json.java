package io.holdfast.cli;

import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.cli.doctor.Finding;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Prints JSON for scripts: one object on each line, in ASCII. Durations are in milliseconds, and null if the back end does not report them. Pure. */
final class Json {

    private static final int LAST_ASCII = 0x7e;

    private Json() {}

    static String of(LockReport lock) {
        return "{\"name\":%s,\"type\":%s,\"holderCount\":%d,\"holders\":%s,\"waiterCount\":%d,\"waiters\":%s,\"lastToken\":%s,\"details\":%s,\"warnings\":%s}"
                .formatted(
                        text(lock.name()),
                        text(lock.type().name()),
                        lock.holderCount(),
                        array(lock.holders(), Json::holder),
                        lock.waiterCount(),
                        array(lock.waiters(), Json::waiter),
                        lock.lastToken().isPresent()
                                ? Long.toString(lock.lastToken().getAsLong())
                                : "null",
                        object(lock.details()),
                        array(lock.warnings(), Json::text));
    }

    static String of(Finding finding) {
        return "{\"check\":%s,\"needed\":%s,\"result\":%s,\"found\":%s,\"cost\":%s,\"help\":%s}"
                .formatted(
                        text(finding.check().name()),
                        finding.check().isNeeded(),
                        text(finding.result().name()),
                        text(finding.found()),
                        text(finding.check().cost()),
                        text(finding.check().help()));
    }

    static String broken(String lockName, LockHolder holder) {
        return "{\"name\":%s,\"broken\":true,\"holder\":%s}".formatted(text(lockName), holder(holder));
    }

    private static String holder(LockHolder holder) {
        return "{\"owner\":%s,\"claim\":%s,\"kind\":%s,\"permits\":%d,\"token\":%d,\"heldMillis\":%s,\"leftMillis\":%s,\"details\":%s}"
                .formatted(
                        text(holder.owner()),
                        text(holder.claimId()),
                        text(holder.kind().name()),
                        holder.permits(),
                        holder.fencingToken(),
                        millis(holder.held()),
                        millis(holder.remaining()),
                        object(holder.details()));
    }

    private static String waiter(LockWaiter waiter) {
        return "{\"owner\":%s,\"claim\":%s,\"kind\":%s,\"permits\":%d,\"allPermits\":%d,\"waitingMillis\":%s,\"details\":%s}"
                .formatted(
                        text(waiter.owner()),
                        text(waiter.claimId()),
                        text(waiter.kind().name()),
                        waiter.permits(),
                        waiter.allPermits(),
                        millis(waiter.waiting()),
                        object(waiter.details()));
    }

    private static String millis(Optional<Duration> duration) {
        return duration.map(it -> Long.toString(it.toMillis())).orElse("null");
    }

    private static <T> String array(List<T> elements, Function<T, String> element) {
        return elements.stream().map(element).collect(Collectors.joining(",", "[", "]"));
    }

    private static String object(Map<String, String> entries) {
        return entries.entrySet().stream()
                .map(it -> text(it.getKey()) + ":" + text(it.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
    }

    /** Escapes everything except printable ASCII. */
    static String text(String raw) {
        StringBuilder json = new StringBuilder(raw.length() + 2).append('"');
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c > LAST_ASCII) {
                json.append("\\u%04x".formatted((int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
