package io.holdfast.redis;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What the answer to INFO says, as far as a lock is concerned.
 *
 * @param evictionPolicy {@code maxmemory_policy}; null when it is not told
 * @param uptimeSeconds {@code uptime_in_seconds}; empty when it is not told
 */
record ServerInfo(@Nullable String evictionPolicy, OptionalLong uptimeSeconds) {

    /** Reads lines such as {@code uptime_in_seconds:17}; others are passed over. */
    static ServerInfo parse(String text) {
        Map<String, String> fields = new HashMap<>();
        text.lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
        });
        return new ServerInfo(fields.get("maxmemory_policy"), seconds(fields.get("uptime_in_seconds")));
    }

    private static OptionalLong seconds(@Nullable String digits) {
        boolean isNumber = digits != null && digits.matches("\\d{1,12}");
        return isNumber ? OptionalLong.of(Long.parseLong(digits)) : OptionalLong.empty();
    }

    /** Whether a held lock may be deleted to make room. */
    boolean mayEvict() {
        return evictionPolicy != null && !evictionPolicy.equals("noeviction");
    }
}
