package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Faults that operators of Redis servers cause, or must repair, while locks are in use. None of them makes a server lose data. A server that another
 * fault kills meanwhile comes back with its usual settings.
 */
final class RedisOperator {

    private static final Duration BETWEEN_ORDERS = Duration.ofMillis(100);
    private static final Duration SAVES_WITHIN = Duration.ofSeconds(20);
    private static final String USUAL_MOST_CLIENTS = "10000";

    private final Supplier<List<RedisServer>> servers;
    private final RedisUsers users;
    private final Duration patience;

    /**
     * An operator of these servers.
     *
     * @param servers the servers of the clients
     */
    RedisOperator(Supplier<List<RedisServer>> servers, RedisUsers users) {
        this(servers, users, Orders.PATIENCE);
    }

    /**
     * An operator of servers that may end the operator's connections.
     *
     * @param servers the servers of the clients
     * @param patience how long a server may refuse the operator at the end of {@link FaultKind#CLIENTS_LIMITED}; later that fault fails
     */
    RedisOperator(Supplier<List<RedisServer>> servers, RedisUsers users, Duration patience) {
        this.servers = servers;
        this.users = users;
        this.patience = patience;
    }

    Map<FaultKind, Strike.Fault> faults() {
        return Map.of(
                FaultKind.CONNECTIONS_ENDED,
                strike -> again(strike, RedisOperator::endConnections),
                FaultKind.SCRIPTS_FLUSHED,
                strike -> again(strike, RedisCommands::scriptFlush),
                FaultKind.CLIENTS_LIMITED,
                this::limitClients,
                FaultKind.SAVE_FAILED,
                this::failASave,
                FaultKind.MEMORY_FULL,
                this::fillMemory,
                FaultKind.PASSWORD_ROTATED,
                strike -> users.rotate(servers.get(), strike));
    }

    private static Object endConnections(RedisCommands<String, String> redis) {
        return redis.clientKill(KillArgs.Builder.user(RedisUsers.CLIENT));
    }

    /** Repeats a command at all servers, or at one of them. */
    private void again(Strike strike, Function<RedisCommands<String, String>, Object> order)
            throws InterruptedException {
        List<RedisServer> hit = strike.other(2) == 0 ? servers.get() : List.of(strike.oneOf(servers.get()));
        long startNanos = System.nanoTime();
        do {
            hit.forEach(server -> {
                boolean unused = Orders.attempt(server, order);
            });
            Strike.last(BETWEEN_ORDERS);
        } while (System.nanoTime() - startNanos < strike.time().toNanos());
    }

    /** Opens the operator's own connection first: later the server would refuse it, too. */
    private void limitClients(Strike strike) throws InterruptedException {
        RedisServer server = strike.oneOf(servers.get());
        try (StatefulRedisConnection<String, String> connection = RedisStore.connect(server.port())) {
            RedisCommands<String, String> redis = connection.sync();
            boolean isDone = Orders.attempt(redis, it -> it.configSet("maxclients", "1"))
                    && Orders.attempt(redis, RedisOperator::endConnections);
            try {
                if (isDone) {
                    strike.last();
                }
            } finally {
                Function<RedisCommands<String, String>, Object> raise =
                        it -> it.configSet("maxclients", USUAL_MOST_CLIENTS);
                Await.until(
                        "clients are accepted by " + server,
                        patience,
                        BETWEEN_ORDERS,
                        () -> Orders.attempt(redis, raise) || Orders.attempt(server, raise));
            }
        } catch (RedisException away) {
            // Another fault stopped the server, so nothing was changed.
        }
    }

    /** Makes a save fail: a folder stands where its file belongs. */
    private void failASave(Strike strike) throws InterruptedException {
        RedisServer server = strike.oneOf(servers.get());
        String name = "no-file-" + strike.choice();
        boolean isDone = Orders.attempt(server, redis -> {
            String unused = makeFolder(Path.of(redis.configGet("dir").get("dir"), name));
            return redis.configSet("dbfilename", name) + redis.configSet("save", "3600 1") + redis.bgsave();
        });
        try {
            if (isDone) {
                // The fault begins when the save has failed.
                boolean unused = failed(server);
                strike.last();
            }
        } finally {
            Orders.insist(server, redis -> redis.configSet("save", "") + redis.configSet("dbfilename", "dump.rdb"));
        }
    }

    private static String makeFolder(Path folder) {
        try {
            return Files.createDirectories(folder).toString();
        } catch (IOException e) {
            throw new UncheckedIOException("no folder in the way of a save", e);
        }
    }

    private static boolean failed(RedisServer server) throws InterruptedException {
        long startNanos = System.nanoTime();
        while (System.nanoTime() - startNanos < SAVES_WITHIN.toNanos()) {
            try {
                String info = RedisStore.ask(server.port(), redis -> redis.info("persistence"));
                if (info.contains("rdb_bgsave_in_progress:0")) {
                    return info.contains("rdb_last_bgsave_status:err");
                }
            } catch (IllegalStateException away) {
                return false;
            }
            Strike.last(BETWEEN_ORDERS);
        }
        return false;
    }

    private void fillMemory(Strike strike) throws InterruptedException {
        RedisServer server = strike.oneOf(servers.get());
        boolean isDone = Orders.attempt(server, redis -> redis.configSet("maxmemory", "1"));
        try {
            if (isDone) {
                strike.last();
            }
        } finally {
            Orders.insist(server, redis -> redis.configSet("maxmemory", "0"));
        }
    }
}
