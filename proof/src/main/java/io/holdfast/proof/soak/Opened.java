package io.holdfast.proof.soak;

import io.holdfast.LocalHandOver;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.proof.hostile.PostgresAddress;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A client with a back end and driver resources of its own.
 *
 * @param locks the client
 * @param rest closes the resources that the client does not close
 */
record Opened(LockClient locks, Runnable rest) {

    static final Duration LEASE = Duration.ofSeconds(4);

    private static final Duration WAIT = Duration.ofSeconds(6);
    private static final int CONNECT_MILLIS = 2_000;

    /** Opens a client that hands mutexes over inside this process. */
    static Opened open(Target target, List<String> servers, boolean handsOver) {
        if (target == Target.ZOOKEEPER) {
            CuratorFramework curator = curator(servers);
            return new Opened(client(ZooKeeperLockBackend.over(curator), handsOver), curator::close);
        }
        LockBackend backend = switch (target) {
            case REDIS -> RedisLockBackend.create(RedisURI.create(servers.get(0)));
            case REDLOCK ->
                RedlockBackend.builder(servers.stream()
                                .map(RedisURI::create)
                                .map(uri -> RedisLockBackend.builder(uri)
                                        .quarantine(Duration.ZERO)
                                        .build())
                                .toList())
                        .closeMasters(true)
                        .build();
            case CLUSTER ->
                RedisLockBackend.cluster(servers.stream().map(RedisURI::create).toList());
            case POSTGRESQL ->
                R2dbcLockBackend.builder(PostgresAddress.connections(servers)).build();
            case ZOOKEEPER -> throw new IllegalStateException("it has a Curator client");
        };
        return new Opened(client(backend, handsOver), () -> {});
    }

    private static LockClient client(LockBackend backend, boolean handsOver) {
        return LockClient.builder(handsOver ? LocalHandOver.over(backend) : backend)
                .closeBackend(true)
                .options(LockOptions.builder()
                        .leaseDuration(LEASE)
                        .waitTimeout(WAIT)
                        .build())
                .build();
    }

    private static CuratorFramework curator(List<String> servers) {
        CuratorFramework curator = CuratorFrameworkFactory.builder()
                .connectString(String.join(",", servers))
                .ensembleTracker(false)
                .sessionTimeoutMs((int) LEASE.toMillis())
                .connectionTimeoutMs(CONNECT_MILLIS)
                .retryPolicy(new ExponentialBackoffRetry(50, 3))
                .build();
        curator.start();
        return curator;
    }

    /** Curator blocks when it is closed. */
    Mono<Void> close() {
        return locks.close()
                .then(Mono.fromRunnable(rest).subscribeOn(Schedulers.boundedElastic()))
                .then();
    }
}
