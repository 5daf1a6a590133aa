package io.holdfast.redis;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

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
        List<String> warnings) {}
