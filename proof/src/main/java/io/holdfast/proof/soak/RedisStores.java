package io.holdfast.proof.soak;

import io.holdfast.proof.hostile.LocalServers;
import io.holdfast.testkit.server.RedisCluster;
import io.holdfast.testkit.server.RedisServer;
import io.holdfast.testkit.server.TcpProxy;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** One Redis, the five masters of a Redlock, or a cluster of three masters. They keep nothing on disk. */
final class RedisStores implements Store {

    /** Deletes the records of free locks some seconds after their last use. They would expire after two hours. */
    private static final String TIDY = """
            local deleted = 0
            for _, key in ipairs(redis.call('KEYS', 'holdfast:{%s*')) do
              local left = redis.call('PTTL', key)
              local kind = key:match("}:(%%a+)$")
              local is_free = kind == 'mutex' and redis.call('GETRANGE', key, 1, 1) == 'F' or kind and kind ~= 'mutex' and redis.call('EXISTS', key .. ':held') == 0
              if left > 0 and left < 7198000 and is_free then
                deleted = deleted + redis.call('UNLINK', key)
              end
            end
            return deleted
            """.formatted(Fresh.PREFIX);

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<TcpProxy> proxies;
    private final List<Integer> ports;
    private final Runnable end;
    private final RedisClient client = RedisClient.create();
    private final List<StatefulRedisConnection<String, String>> connections = new ArrayList<>();

    private RedisStores(List<RedisServer> servers, boolean isCluster, Runnable end) {
        ports = servers.stream().map(RedisServer::port).toList();
        this.end = end;
        // The servers of a cluster send clients their own addresses, so clients would bypass a proxy in front of them.
        proxies = isCluster
                ? List.of()
                : servers.stream().map(TcpProxy::inFrontOf).toList();
        ports.forEach(port -> connections.add(client.connect(RedisURI.builder()
                .withHost("127.0.0.1")
                .withPort(port)
                .withTimeout(PATIENCE)
                .build())));
    }

    static Store start(int count) {
        LocalServers.choose();
        List<RedisServer> servers = new ArrayList<>();
        Runnable end = () -> servers.forEach(RedisServer::close);
        try {
            for (int i = 0; i < count; i++) {
                servers.add(RedisServer.start());
            }
            return new RedisStores(servers, false, end);
        } catch (RuntimeException e) {
            end.run();
            throw e;
        }
    }

    static Store startCluster() {
        LocalServers.choose();
        RedisCluster cluster = RedisCluster.start();
        return new RedisStores(cluster.masters(), true, cluster::close);
    }

    @Override
    public List<String> addresses() {
        Stream<Integer> reached =
                proxies.isEmpty() ? ports.stream() : proxies.stream().map(TcpProxy::port);
        return reached.map(port -> "redis://127.0.0.1:" + port).toList();
    }

    @Override
    public void tidy() {
        commands().forEach(redis -> {
            Long unused = redis.eval(TIDY, ScriptOutputType.INTEGER);
        });
    }

    @Override
    public Reading read() {
        return commands().map(RedisStores::read).reduce(new Reading(0, 0, 0), Reading::plus);
    }

    private static Reading read(RedisCommands<String, String> redis) {
        return new Reading(
                redis.dbsize(),
                figure(redis.info("memory"), "used_memory"),
                figure(redis.info("clients"), "connected_clients") - 1);
    }

    private static long figure(String info, String name) {
        return info.lines()
                .filter(line -> line.startsWith(name + ":"))
                .mapToLong(
                        line -> Long.parseLong(line.substring(name.length() + 1).trim()))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no " + name + " in INFO"));
    }

    @Override
    public void cut() {
        if (proxies.isEmpty()) {
            commands().forEach(redis -> {
                Long unused = redis.clientKill(KillArgs.Builder.typeNormal().skipme());
                Long unusedToo = redis.clientKill(KillArgs.Builder.typePubsub().skipme());
            });
        }
        proxies.forEach(TcpProxy::cut);
    }

    private Stream<RedisCommands<String, String>> commands() {
        return connections.stream().map(StatefulRedisConnection::sync);
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        end.run();
    }
}
