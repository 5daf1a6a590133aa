package io.holdfast.vertx;

import io.holdfast.Backoff;
import io.holdfast.LockOptions;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads options of a lock from JSON: see {@link VertxLocks#options}. */
final class JsonOptions {

    private static final Pattern SIMPLE = Pattern.compile("(\\d{1,12})\\s*(ms|s|m|h)");
    private static final Set<String> FIXED = Set.of("fixed", "jitter");
    private static final Set<String> EXPONENTIAL = Set.of("first", "max", "jitter");

    private static final Set<String> OPTIONS =
            Set.of("leaseDuration", "waitTimeout", "autoRenew", "maxHoldTime", "minHoldTime", "backoff", "reentrant");

    private JsonOptions() {}

    static LockOptions of(JsonObject json) {
        requireKnown("options of a lock", json, OPTIONS);
        LockOptions.Builder options = LockOptions.builder();
        duration(json, "leaseDuration", options::leaseDuration);
        duration(json, "waitTimeout", options::waitTimeout);
        duration(json, "maxHoldTime", options::maxHoldTime);
        duration(json, "minHoldTime", options::minHoldTime);
        value(json, "autoRenew", Boolean.class, options::autoRenew);
        value(json, "reentrant", Boolean.class, options::reentrant);
        value(json, "backoff", JsonObject.class, backoff -> options.backoff(backoff(backoff)));
        return options.build();
    }

    private static Backoff backoff(JsonObject json) {
        Backoff[] pauses = new Backoff[1];
        if (json.containsKey("fixed")) {
            requireKnown("backoff", json, FIXED);
            pauses[0] = Backoff.fixed(duration("backoff.fixed", required(json, "fixed")));
        } else {
            requireKnown("backoff", json, EXPONENTIAL);
            pauses[0] = Backoff.exponential(
                    duration("backoff.first", required(json, "first")), duration("backoff.max", required(json, "max")));
        }
        value(json, "jitter", Number.class, jitter -> pauses[0] = pauses[0].withJitter(jitter.doubleValue()));
        return pauses[0];
    }

    private static Object required(JsonObject json, String name) {
        Object value = json.getValue(name);
        if (value == null) {
            throw new IllegalArgumentException("backoff must have %s, but is %s".formatted(name, json.encode()));
        }
        return value;
    }

    private static void requireKnown(String of, JsonObject json, Set<String> known) {
        Set<String> unknown = new TreeSet<>(json.fieldNames());
        unknown.removeAll(known);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("%s: unknown name %s; the names are %s"
                    .formatted(of, String.join(", ", unknown), String.join(", ", new TreeSet<>(known))));
        }
    }

    private static void duration(JsonObject json, String name, Function<Duration, LockOptions.Builder> setter) {
        Object value = json.getValue(name);
        if (value != null) {
            LockOptions.Builder unused = setter.apply(duration(name, value));
        }
    }

    private static Duration duration(String name, Object value) {
        String text = value instanceof String it ? it.strip() : "";
        Matcher simple = SIMPLE.matcher(text);
        if (simple.matches()) {
            long amount = Long.parseLong(simple.group(1));
            return switch (simple.group(2)) {
                case "ms" -> Duration.ofMillis(amount);
                case "s" -> Duration.ofSeconds(amount);
                case "m" -> Duration.ofMinutes(amount);
                default -> Duration.ofHours(amount);
            };
        }
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(
                    "%s must be a text with a unit, such as \"500ms\", \"10s\", \"5m\" or \"PT10S\", but is %s"
                            .formatted(name, value instanceof String ? "\"" + value + "\"" : value),
                    e);
        }
    }

    private static <T> void value(JsonObject json, String name, Class<T> type, Function<T, ?> setter) {
        Object value = json.getValue(name);
        if (value == null) {
            return;
        }
        if (!type.isInstance(value)) {
            throw new IllegalArgumentException(
                    "%s must be a %s, but is %s".formatted(name, type.getSimpleName(), value));
        }
        Object unused = setter.apply(type.cast(value));
    }
}
