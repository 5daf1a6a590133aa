package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.zookeeper.internal.operation.RecheckInterval;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** With {@code zookeeper.disableAutoWatchReset}, the driver forgets all watches when a connection is lost. */
class ZooKeeperWatchResetIT {

    /** A waiter that got no event would send its next attempt after that time. */
    private static final Duration SOON = RecheckInterval.SHORTEST.dividedBy(2);

    private static Store store;

    @BeforeAll
    static void start() {
        store = Store.start();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    private static CuratorFramework withoutReset(TcpProxy proxy) throws InterruptedException {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "true");
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(proxy.host() + ':' + proxy.port())
                .namespace("reset")
                .sessionTimeoutMs(30_000)
                .connectionTimeoutMs(2_000)
                .ensembleTracker(false)
                .zkClientConfig(config)
                .retryPolicy(new RetryOneTime(100))
                .build();
        client.start();
        client.blockUntilConnected();
        return client;
    }

    private static void cut(TcpProxy proxy, CuratorFramework client) {
        long before = proxy.connections();
        proxy.cut();
        Waiting.until(
                "connected again",
                () -> proxy.connections() > before
                        && client.getZookeeperClient().isConnected());
    }

    private static Mono<LockLease> acquire(LockClient locks, String kind) {
        Function<String, Mono<LockLease>> acquire = name -> switch (kind) {
            case "mutex" -> locks.lock(name).acquire();
            case "read/write lock" -> locks.readWriteLock(name).writeLock().acquire();
            default -> locks.semaphore(name, 1).acquire();
        };
        return acquire.apply("lock");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mutex", "read/write lock", "semaphore"})
    void waiterIsServedSoonAfterEachReconnect(String kind) throws Exception {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", store.server().port());
                CuratorFramework cutOff = withoutReset(proxy);
                CuratorFramework near = Store.connect("reset", store.address(), Duration.ofSeconds(30))) {
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(cutOff));
            LockClient rivals = LockClient.create(ZooKeeperLockBackend.over(near));
            for (int round = 0; round < 2; round++) {
                LockLease held = Waiting.forMono(acquire(rivals, kind));
                CompletableFuture<LockLease> waiter = acquire(locks, kind).toFuture();
                Waiting.until("it waits", () -> store.claims("/reset/holdfast").size() == 2);
                cut(proxy, cutOff);
                cut(proxy, cutOff);
                assertThat(waiter).isNotDone();
                Waiting.forMono(held.release());
                assertThat(waiter).as("round %d", round).succeedsWithin(SOON);
                Waiting.forMono(waiter.join().release());
            }
            Waiting.forMono(locks.close());
            Waiting.forMono(rivals.close());
        }
    }

    @Test
    void releaseDuringTheInterruptionIsSeenAfterIt() throws Exception {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", store.server().port());
                CuratorFramework cutOff = withoutReset(proxy);
                CuratorFramework near = Store.connect("reset", store.address(), Duration.ofSeconds(30))) {
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(cutOff));
            LockClient rivals = LockClient.create(ZooKeeperLockBackend.over(near));
            LockLease held = Waiting.forMono(acquire(rivals, "mutex"));
            CompletableFuture<LockLease> waiter = acquire(locks, "mutex").toFuture();
            Waiting.until("it waits", () -> store.claims("/reset/holdfast").size() == 2);
            proxy.refuse();
            proxy.cut();
            Waiting.forMono(held.release());
            proxy.accept();
            assertThat(waiter).succeedsWithin(SOON);
            Waiting.forMono(waiter.join().release());
            Waiting.forMono(locks.close());
            Waiting.forMono(rivals.close());
        }
    }
}
