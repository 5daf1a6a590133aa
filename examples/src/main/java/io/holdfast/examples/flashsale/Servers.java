package io.holdfast.examples.flashsale;

import io.holdfast.redis.RedisLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Where the servers are. Handed to a shop by its environment: an address may hold a password, and command lines are for all to see.
 *
 * @param redisUri of the stock, and of the lock if there is nothing else
 * @param zooKeeper of the lock; empty when that is in Redis
 */
record Servers(String redisUri, Optional<String> zooKeeper) {

    private static final String REDIS = "FLASH_SALE_REDIS";
    private static final String ZOOKEEPER = "FLASH_SALE_ZOOKEEPER";

    Map<String, String> toEnvironment() {
        Map<String, String> environment = new HashMap<>(Map.of(REDIS, redisUri));
        zooKeeper.ifPresent(address -> environment.put(ZOOKEEPER, address));
        return environment;
    }

    static Servers from(Map<String, String> environment) {
        return new Servers(
                Optional.ofNullable(environment.get(REDIS)).orElseThrow(),
                Optional.ofNullable(environment.get(ZOOKEEPER)));
    }

    RedisURI redis() {
        return RedisURI.create(redisUri);
    }

    LockBackend lockBackend(ClientResources resources) {
        return zooKeeper.map(Servers::inZooKeeper).orElseGet(() -> RedisLockBackend.create(resources, redis()));
    }

    /** The session ends with this JVM, which is what owns the client. */
    private static LockBackend inZooKeeper(String address) {
        int sessionMillis = (int) Shop.LOCK_OPTIONS.leaseDuration().toMillis();
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                address, sessionMillis, sessionMillis, new ExponentialBackoffRetry(50, 3));
        client.start();
        return ZooKeeperLockBackend.over(client);
    }
}
