package io.holdfast.redis.internal.inspect;

import io.holdfast.redis.ServerReport;
import io.holdfast.redis.internal.connection.ServerInfo;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/** Reports the state of a server, and what is wrong with it. */
public final class ServerReports {

    private static final String SAFE_POLICY = "noeviction";

    private ServerReports() {}

    /** Reads the answer to INFO. */
    public static ServerReport of(String server, String text) {
        ServerInfo info = ServerInfo.parse(text);
        Optional<String> policy = Optional.ofNullable(info.evictionPolicy()).map(it -> it.toLowerCase(Locale.ROOT));
        List<String> warnings = new ArrayList<>();
        policy.filter(it -> !it.equals(SAFE_POLICY)).ifPresent(it -> warnings.add(evicts(it)));
        if (policy.isEmpty()) {
            warnings.add(
                    "INFO does not report the maxmemory-policy: check by other means that it is " + SAFE_POLICY + ".");
        }
        return new ServerReport(
                server, Optional.ofNullable(info.version()), uptime(info), policy, List.copyOf(warnings));
    }

    private static Optional<Duration> uptime(ServerInfo info) {
        OptionalLong seconds = info.uptimeSeconds();
        return seconds.isPresent() ? Optional.of(Duration.ofSeconds(seconds.getAsLong())) : Optional.empty();
    }

    /** Makes the report of a server that forbids INFO to the user. */
    public static ServerReport forbidden(String server) {
        String warning =
                "The ACL forbids INFO: allow +info, or check by other means that maxmemory-policy is noeviction.";
        return new ServerReport(server, Optional.empty(), Optional.empty(), Optional.empty(), List.of(warning));
    }

    private static String evicts(String policy) {
        return ("maxmemory-policy is %s: a held lock can be evicted when memory gets short, and granted again while its holder"
                        + " still works. Set it to %s.")
                .formatted(Printable.start(policy, 50), SAFE_POLICY);
    }
}
