package io.holdfast.r2dbc;

import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** A PostgreSQL. */
final class PostgresStore extends Store {

    private final PostgresServer server;

    private PostgresStore(PostgresServer server) {
        this.server = server;
    }

    static Store durable() {
        return new PostgresStore(PostgresServer.run());
    }

    /** Nothing here ends the machine, so the disk need not be flushed. */
    static Store empty() {
        return new PostgresStore(PostgresServer.run("fsync=off", "full_page_writes=off"));
    }

    @Override
    void addSchema() {
        execute(schema());
    }

    @Override
    PostgresServer server() {
        return server;
    }

    @Override
    ConnectionFactory connections() {
        return connections(PostgresServer.USER);
    }

    @Override
    ConnectionFactory connections(String user, int port) {
        return new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
                .host(server.host())
                .port(port)
                .username(user)
                .database(PostgresServer.DATABASE)
                .build());
    }

    @Override
    ConnectionFactory connectionsBy(int port) {
        return connections(PostgresServer.USER, port);
    }

    @Override
    ConnectionFactory ownConnections() {
        return connections();
    }

    @Override
    Duration replyTimeout() {
        return Duration.ofMillis(700);
    }

    @Override
    String lockedRowAdvice() {
        return "pg_stat_activity";
    }

    @Override
    int clientConnections() {
        return count("select count(*) from pg_stat_activity where application_name = 'holdfast'");
    }

    @Override
    void killClientConnections() {
        execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast'");
    }

    @Override
    int listeners() {
        return count("select count(*) from pg_stat_activity where query ilike 'listen%'");
    }

    @Override
    boolean hasBlockedCall() {
        return count("select count(*) from pg_stat_activity where wait_event_type = 'Lock'") > 0;
    }

    @Override
    List<String> leftovers() {
        return Stream.of(
                        "select format('%s %s held by %s', kind, name, holder) from holdfast_lock where holder is not"
                                + " null",
                        "select format('%s %s waited for by %s', kind, name, id) from holdfast_waiter")
                .flatMap(sql -> texts(sql).stream())
                .toList();
    }
}
