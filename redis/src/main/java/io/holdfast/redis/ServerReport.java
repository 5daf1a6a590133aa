package io.holdfast.redis;

import io.holdfast.spi.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What a server says of itself, as far as locks depend on it. All of it is empty where the user may not ask.
 *
 * @param server host and port, or what the address was
 * @param version of Redis, or of what it is compatible with
 * @param uptime since its start, in whole seconds. It shows neither a flush, nor a promotion, nor that old data was loaded
 * @param evictionPolicy {@code maxmemory-policy}
 * @param warnings what is wrong and what to do, in whole sentences; empty when nothing is
 */
public record ServerReport(
        String server,
        Optional<String> version,
        Optional<Duration> uptime,
        Optional<String> evictionPolicy,
        List<String> warnings) {

    private static final String SAFE_POLICY = "noeviction";

    /** Reads the answer to INFO. */
    static ServerReport of(String server, String info) {
        Map<String, String> facts = info.lines()
                .map(line -> line.split(":", 2))
                .filter(parts -> parts.length == 2)
                .collect(Collectors.toMap(parts -> parts[0], parts -> parts[1].strip(), (first, second) -> first));
        Optional<String> policy = fact(facts, "maxmemory_policy", text -> text.toLowerCase(Locale.ROOT));
        List<String> warnings = new ArrayList<>();
        policy.filter(it -> !it.equals(SAFE_POLICY)).ifPresent(it -> warnings.add(evicts(it)));
        if (policy.isEmpty()) {
            warnings.add(
                    "INFO does not tell the maxmemory-policy: check by other means that it is " + SAFE_POLICY + ".");
        }
        return new ServerReport(
                server,
                fact(facts, "redis_version", Function.identity()),
                fact(facts, "uptime_in_seconds", text -> Duration.ofSeconds(Long.parseLong(text))),
                policy,
                List.copyOf(warnings));
    }

    static ServerReport forbidden(String server) {
        String warning =
                "The ACL forbids INFO: allow +info, or check by other means that maxmemory-policy is noeviction.";
        return new ServerReport(server, Optional.empty(), Optional.empty(), Optional.empty(), List.of(warning));
    }

    private static String evicts(String policy) {
        return ("maxmemory-policy is %s: a held lock can be evicted when memory gets short, and granted again while its holder"
                        + " still works. Set it to %s.")
                .formatted(Printable.start(policy, 50), SAFE_POLICY);
    }

    private static <T> Optional<T> fact(Map<String, String> facts, String name, Function<String, T> reading) {
        return Optional.ofNullable(facts.get(name)).map(reading);
    }
}
