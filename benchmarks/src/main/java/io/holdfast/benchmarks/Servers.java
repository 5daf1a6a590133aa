package io.holdfast.benchmarks;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Postgres;
import io.holdfast.testkit.server.PostgresServer;
import io.holdfast.testkit.server.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;

/** The servers of a run: one Redis, five masters, a ZooKeeper, and a PostgreSQL if needed. The ZooKeeper is in this process. */
final class Servers implements AutoCloseable {

    private static final int MASTERS = 5;

    private final RedisServer redis;
    private final List<RedisServer> masters = new ArrayList<>();
    private final TestingServer zookeeper;
    private final @Nullable PostgresServer postgres;

    /**
     * Starts the servers.
     *
     * @param withPostgres whether to start a PostgreSQL; it flushes its disk, as in production
     */
    Servers(boolean withPostgres) {
        redis = RedisServer.start();
        for (int i = 0; i < MASTERS; i++) {
            masters.add(RedisServer.start());
        }
        try {
            zookeeper = new TestingServer(true);
        } catch (Exception e) {
            throw new IllegalStateException("no ZooKeeper", e);
        }
        postgres = withPostgres ? PostgresServer.run() : null;
        if (postgres != null) {
            database(postgres).createTables();
        }
    }

    Addresses addresses() {
        List<Long> pids = masters.stream()
                .map(it -> it.pid()
                        .orElseThrow(() -> new IllegalStateException(
                                "%s cannot be frozen: use -D%s=path or embedded".formatted(it, RedisServer.SWITCH))))
                .toList();
        return new Addresses(
                redis.uri(),
                masters.stream().map(RedisServer::uri).toList(),
                pids,
                zookeeper.getConnectString(),
                postgres == null ? null : database(postgres));
    }

    private static Postgres database(PostgresServer server) {
        return new Postgres(server.host(), server.port(), server.pid());
    }

    /** Returns where the Redis servers come from. */
    String kind() {
        return redis.kind().toString().toLowerCase(Locale.ROOT);
    }

    /** Wakes all masters: a process may have died while a master hung. */
    void resume() {
        masters.forEach(RedisServer::resume);
    }

    @Override
    public void close() {
        redis.close();
        masters.forEach(RedisServer::close);
        if (postgres != null) {
            postgres.close();
        }
        try {
            zookeeper.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot stop the ZooKeeper", e);
        }
    }
}
