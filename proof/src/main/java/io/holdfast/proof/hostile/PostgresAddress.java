package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.postgresql.MultiHostConnectionStrategy.TargetServerType;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.List;

/** How the primary of some servers is found: by asking each of them, as an application does. */
public final class PostgresAddress {

    static final String SCHEME = "postgresql://";

    private static final Duration CONNECTS_WITHIN = Duration.ofSeconds(2);

    /** What the driver knows of a server is out of date soon: replicas are promoted. */
    private static final Duration REMEMBERED = Duration.ofMillis(300);

    private PostgresAddress() {}

    static String uri(List<String> servers) {
        return SCHEME + String.join(",", servers);
    }

    static List<String> servers(String uri) {
        return List.of(uri.substring(SCHEME.length()).split(",", -1));
    }

    /** Connections to the one that takes writes. */
    public static ConnectionFactory connections(List<String> servers) {
        return connections(servers, TargetServerType.PRIMARY);
    }

    /** Connections to this one. */
    public static ConnectionFactory direct(int port) {
        return connections(List.of("127.0.0.1:" + port), TargetServerType.ANY);
    }

    private static ConnectionFactory connections(List<String> servers, TargetServerType type) {
        PostgresqlConnectionConfiguration.Builder builder = PostgresqlConnectionConfiguration.builder()
                .username(PostgresServer.USER)
                .database(PostgresServer.DATABASE)
                .connectTimeout(CONNECTS_WITHIN)
                .hostRecheckTime(REMEMBERED)
                .targetServerType(type);
        for (String server : servers) {
            int colon = server.lastIndexOf(':');
            builder = builder.addHost(server.substring(0, colon), Integer.parseInt(server.substring(colon + 1)));
        }
        return new PostgresqlConnectionFactory(builder.build());
    }
}
