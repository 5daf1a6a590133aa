package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.postgresql.MultiHostConnectionStrategy.TargetServerType;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Finds the primary of several servers as an application does: by a connection to each of them. */
public final class PostgresAddress {

    static final String SCHEME = "postgresql://";

    private static final Duration CONNECTS_WITHIN = Duration.ofSeconds(2);

    /** How long the driver remembers the role of a server: briefly, since replicas are promoted. */
    private static final Duration REMEMBERED = Duration.ofMillis(300);

    private PostgresAddress() {}

    static String uri(List<String> servers) {
        return SCHEME + String.join(",", servers);
    }

    static List<String> servers(String uri) {
        return List.of(uri.substring(SCHEME.length()).split(",", -1));
    }

    /** Returns connections to the server that takes writes. */
    public static ConnectionFactory connections(List<String> servers) {
        return new PostgresqlConnectionFactory(
                connections(servers, TargetServerType.PRIMARY).build());
    }

    /** Returns the same for the role of the lock clients, whose password is in this file. */
    static ConnectionFactory connections(List<String> servers, Path secret) {
        return new PostgresqlConnectionFactory(connections(servers, TargetServerType.PRIMARY)
                .username(PostgresUsers.CLIENT)
                .password(PostgresUsers.passwordIn(secret))
                .build());
    }

    /** Returns connections to this server. */
    public static ConnectionFactory direct(int port) {
        return new PostgresqlConnectionFactory(
                connections(List.of("127.0.0.1:" + port), TargetServerType.ANY).build());
    }

    private static PostgresqlConnectionConfiguration.Builder connections(List<String> servers, TargetServerType type) {
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
        return builder;
    }
}
