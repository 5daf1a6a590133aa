package io.holdfast.redis;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The state of a server, as far as locks depend on it. All optional components are empty if the ACL forbids {@code
 * INFO}.
 *
 * @param server host and port, or the address
 * @param version of Redis, or the version of Redis with which the server is compatible
 * @param uptime time since its start, in whole seconds. It shows neither a flush, nor a promotion, nor the loading of
 *     old data
 * @param evictionPolicy {@code maxmemory-policy}
 * @param warnings what is wrong and what to do, in whole sentences; empty if nothing is wrong
 */
public record ServerReport(
        String server,
        Optional<String> version,
        Optional<Duration> uptime,
        Optional<String> evictionPolicy,
        List<String> warnings) {}
