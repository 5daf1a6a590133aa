package io.holdfast.examples.flashsale;

import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * The back end of the lock, and where a shop finds it.
 *
 * @param kind the back end
 * @param servers the addresses of its servers
 */
record LockAddress(Kind kind, List<String> servers) {

    /** The back ends of the demo. */
    enum Kind {
        REDIS,
        REDLOCK,
        ZOOKEEPER
    }

    String toText() {
        return kind.name().toLowerCase(Locale.ROOT) + " " + String.join(" ", servers);
    }

    static LockAddress parse(String text) {
        List<String> words = List.of(text.split(" "));
        return new LockAddress(Kind.valueOf(words.get(0).toUpperCase(Locale.ROOT)), words.subList(1, words.size()));
    }

    /** Opens a client. Only this method differs between the back ends. */
    LockBackend backend(ClientResources resources) {
        return switch (kind) {
            case REDIS -> redis(resources, servers.get(0));
            case REDLOCK ->
                RedlockBackend.over(
                        servers.stream().map(server -> redis(resources, server)).toList());
            case ZOOKEEPER -> zooKeeper(servers.get(0));
        };
    }

    private static RedisLockBackend redis(ClientResources resources, String server) {
        return RedisLockBackend.builder(RedisURI.create(server))
                .resources(resources)
                .quarantine(Duration.ZERO) // the servers of this example do not restart
                .build();
    }

    /** Starts a client, which this JVM owns: its session ends when the JVM ends. */
    private static LockBackend zooKeeper(String address) {
        int sessionMillis = (int) Shop.LOCK_OPTIONS.leaseDuration().toMillis();
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                address, sessionMillis, sessionMillis, new ExponentialBackoffRetry(50, 3));
        client.start();
        return ZooKeeperLockBackend.over(client);
    }
}
