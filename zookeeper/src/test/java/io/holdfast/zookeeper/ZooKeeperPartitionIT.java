package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The holder is cut off without a notice. Its loss is signalled before another client can hold the lock. */
class ZooKeeperPartitionIT {

    private static Store store;

    @BeforeAll
    static void start() {
        store = Store.start();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @ParameterizedTest
    @CsvSource({"TO_SERVER,TO_SERVER", "TO_CLIENT,TO_CLIENT", "TO_SERVER,TO_CLIENT"})
    void lossIsSignalledBeforeARivalHolds(Direction one, Direction other) {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", store.server().port());
                CuratorFramework cutOff = Store.connect("p", proxy.host() + ':' + proxy.port(), Store.SESSION);
                CuratorFramework near = Store.connect("p", store.address(), Store.SESSION)) {
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(cutOff));
            LockClient rivals = LockClient.create(ZooKeeperLockBackend.over(near));
            String name = one + "/" + other;
            LockLease lease = Waiting.forMono(locks.lock(name).acquire());
            CompletableFuture<Long> lost =
                    lease.onLoss().map(reason -> System.nanoTime()).toFuture();
            CompletableFuture<Long> granted =
                    rivals.lock(name).acquire().map(rival -> System.nanoTime()).toFuture();
            Waiting.until("the rival waits", () -> store.claims("/p/holdfast").size() == 2);
            Waiting.pass(Duration.ofMillis(700)); // some renewals
            long cut = System.nanoTime();
            proxy.drop(one, other);

            assertThat(granted).succeedsWithin(Store.SESSION.multipliedBy(4));
            assertThat(lost).as("the loss, when the rival holds").isDone();
            assertThat(lost.join()).as("nanoseconds of the loss").isLessThan(granted.join());
            assertThat(Waiting.forMono(lease.onLoss())).isIn(LossReason.EXPIRED, LossReason.DISCONNECTED);
            assertThat(lease.isValid()).isFalse();
            System.out.printf(
                    "cut %s %s: loss after %d ms, rival after %d ms%n",
                    one, other, (lost.join() - cut) / 1_000_000, (granted.join() - cut) / 1_000_000);
            proxy.pass();
            Waiting.forMono(rivals.close());
            Waiting.forMono(locks.close());
        }
    }
}
