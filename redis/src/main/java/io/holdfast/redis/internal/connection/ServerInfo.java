package io.holdfast.redis.internal.connection;

import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The fields of the answer to INFO that concern locks.
 *
 * @param version {@code redis_version}; null if the server does not report it
 * @param evictionPolicy {@code maxmemory_policy}; null if the server does not report it
 * @param uptimeSeconds {@code uptime_in_seconds}; empty if the server does not report it; 0 if its clock was set back to a time before its
 *     start
 */
public record ServerInfo(@Nullable String version, @Nullable String evictionPolicy, OptionalLong uptimeSeconds) {

    /** Reads lines such as {@code uptime_in_seconds:17} and ignores others. */
    public static ServerInfo parse(String text) {
        Map<String, String> fields = text.lines()
                .map(line -> line.split(":", 2))
                .filter(parts -> parts.length == 2)
                .collect(Collectors.toMap(parts -> parts[0], parts -> parts[1].strip(), (first, second) -> first));
        return new ServerInfo(
                fields.get("redis_version"), fields.get("maxmemory_policy"), seconds(fields.get("uptime_in_seconds")));
    }

    private static OptionalLong seconds(@Nullable String digits) {
        boolean isNumber = digits != null && digits.matches("-?\\d{1,12}");
        return isNumber ? OptionalLong.of(Math.max(0, Long.parseLong(digits))) : OptionalLong.empty();
    }

    /** Whether a held lock may be deleted to make room. */
    public boolean mayEvict() {
        return evictionPolicy != null && !evictionPolicy.equals("noeviction");
    }
}
