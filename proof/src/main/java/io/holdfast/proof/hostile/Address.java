package io.holdfast.proof.hostile;

import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Where a process finds the locks.
 *
 * @param target which back end
 * @param servers their addresses, as the back end wants them
 */
record Address(Target target, List<String> servers) {

    /** A quarter of the shortest lease. */
    private static final Duration CLAIM_TIME = Duration.ofMillis(500);

    /** With one replica, all of them. */
    private static final int CONFIRMATIONS = 1;

    private static final Duration CONFIRMED_WITHIN = Duration.ofMillis(200);
    private static final int CONNECT_MILLIS = 2_000;

    String toText() {
        return target.word() + " " + String.join(" ", servers);
    }

    static Address parse(String text) {
        List<String> words = List.of(text.split(" "));
        return new Address(Target.parse(words.get(0)), List.copyOf(words.subList(1, words.size())));
    }

    /** A back end, and what it does not close by itself. */
    record Opened(LockBackend backend, Runnable rest) {}

    Opened open() {
        return switch (target) {
            case REDIS -> overRedis(List.of(servers.get(0)));
            case SENTINEL -> overRedis(List.of(servers.get(0)));
            case REDLOCK -> overRedis(servers);
            case ZOOKEEPER -> overZooKeeper();
        };
    }

    private Opened overRedis(List<String> uris) {
        ClientResources resources = ClientResources.create();
        List<RedisLockBackend> backends = new ArrayList<>();
        uris.forEach(uri -> backends.add(redis(resources, uri)));
        LockBackend backend = target == Target.REDLOCK ? RedlockBackend.over(backends) : backends.get(0);
        return new Opened(
                backend, () -> resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly());
    }

    private RedisLockBackend redis(ClientResources resources, String uri) {
        RedisLockBackend.Builder builder =
                RedisLockBackend.builder(RedisURI.create(uri)).claimTime(CLAIM_TIME);
        if (target == Target.SENTINEL) {
            builder = builder.confirmGrants(CONFIRMATIONS, CONFIRMED_WITHIN);
        }
        if (target == Target.REDLOCK) {
            // All processes have the same lease, so this is the longest of them.
            builder = builder.quarantine(Flaw.NO_QUARANTINE.isThere() ? Duration.ZERO : target.lease());
        }
        return builder.resources(resources).build();
    }

    private Opened overZooKeeper() {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                servers.get(0), (int) target.lease().toMillis(), CONNECT_MILLIS, new ExponentialBackoffRetry(50, 3));
        client.start();
        return new Opened(ZooKeeperLockBackend.over(client), client::close);
    }
}
