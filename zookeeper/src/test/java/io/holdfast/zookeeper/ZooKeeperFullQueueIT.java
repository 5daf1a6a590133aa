package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockQueueFullException;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.LeftoversExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** More claims want one lock than the driver can list. A small {@code jute.maxbuffer} stands for a long queue. */
class ZooKeeperFullQueueIT {

    private static final String ROOT = "/full/holdfast";

    private static final int BUFFER = 8_000;
    private static final int FIT = (BUFFER - 64) / 80;

    private static Store store;

    private CuratorFramework curator;
    private CuratorFramework another;
    private LockClient locks;
    private final AtomicInteger interruptions = new AtomicInteger();
    private final Queue<LockLease> granted = new ConcurrentLinkedQueue<>();
    private final Queue<Throwable> refused = new ConcurrentLinkedQueue<>();
    private final List<Disposable> waiting = new ArrayList<>();

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("tree", () -> store.claims(ROOT));

    @BeforeAll
    static void startServer() {
        store = Store.start();
    }

    @AfterAll
    static void stopServer() {
        store.close();
    }

    @BeforeEach
    void start() throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKConfig.JUTE_MAXBUFFER, Integer.toString(BUFFER));
        curator = CuratorFrameworkFactory.builder()
                .connectString(store.address())
                .namespace("full")
                .sessionTimeoutMs(20_000)
                .retryPolicy(new RetryOneTime(100))
                .zkClientConfig(config)
                .build();
        curator.start();
        curator.blockUntilConnected();
        curator.getConnectionStateListenable().addListener((client, state) -> {
            if (state == ConnectionState.SUSPENDED) {
                interruptions.incrementAndGet();
            }
        });
        locks = LockClient.create(ZooKeeperLockBackend.over(curator));
        another = store.client("");
    }

    @AfterEach
    void close() {
        waiting.forEach(Disposable::dispose);
        Waiting.forMono(locks.close());
        curator.close();
        another.close();
        Waiting.until("all claims have left", () -> places() == 0);
    }

    private void wait(ReactiveLock lock, int count) {
        waiting.add(Flux.range(0, count)
                .flatMap(
                        i -> lock.acquire().onErrorResume(error -> {
                            refused.add(error);
                            return reactor.core.publisher.Mono.empty();
                        }),
                        Integer.MAX_VALUE)
                .subscribe(granted::add));
    }

    private static int places() {
        return store.claims(ROOT).size();
    }

    @Test
    void queueRefusesClaimsBeforeItsListOutgrowsTheBufferOfTheDriver() {
        LockLease other = Waiting.forMono(locks.lock("other").acquire());
        wait(locks.lock("long"), 300);
        Waiting.until("each claim waits or was refused", () -> refused.size() + places() >= 301);
        assertThat(interruptions).as("interruptions").hasValue(0);
        assertThat(other.isValid()).isTrue();
        assertThat(places()).as("with the node of the other lock").isEqualTo(FIT + 1);
        assertThat(refused).hasSize(300 - FIT).allSatisfy(error -> {
            assertThat(error)
                    .hasMessageContaining("jute.maxbuffer")
                    .hasMessageContaining(Integer.toString(BUFFER))
                    .hasMessageContaining("long");
            assertThat(((LockQueueFullException) error).limit()).isEqualTo(FIT - 1);
        });
        Waiting.forMono(other.release());
    }

    @Test
    void fullQueueAdmitsClaimsAgainWhenItHasRoom() {
        wait(locks.lock("drained"), 300);
        Waiting.until("each claim waits or was refused", () -> refused.size() + places() >= 300);
        int first = refused.size();
        for (int i = 0; i < FIT; i++) {
            Waiting.forMono(Waiting.untilSome("the next lease", granted::poll).release());
        }
        Waiting.until("the queue is empty", () -> places() == 0);
        wait(locks.lock("drained"), 20);
        Waiting.until("the new claims are in the queue", () -> places() == 20);
        assertThat(refused).hasSize(first);
        assertThat(interruptions).hasValue(0);
    }

    @Test
    void clientsThatFillAQueueTogetherKeepItsLimit() {
        int most = 30;
        LockClient one = LockClient.create(
                ZooKeeperLockBackend.builder(curator).maxWaiters(most).build());
        LockClient two = LockClient.create(ZooKeeperLockBackend.builder(another.usingNamespace("full"))
                .maxWaiters(most)
                .build());
        wait(one.lock("both"), 200);
        wait(two.lock("both"), 200);
        Waiting.until("each claim waits or was refused", () -> refused.size() + places() == 400);
        assertThat(places()).isLessThanOrEqualTo(most + 1).isGreaterThan(most / 2);
        assertThat(refused)
                .allSatisfy(error -> assertThat(error)
                        .isInstanceOf(LockQueueFullException.class)
                        .hasMessageContaining("maxWaiters"));
        waiting.forEach(Disposable::dispose);
        Waiting.forMono(one.close());
        Waiting.forMono(two.close());
    }

    /** Other clients, with a greater buffer, have made the queue too long for this one. */
    @Test
    void tooLongQueueInterruptsASessionAtMostOnce() throws Exception {
        LockLease other = Waiting.forMono(locks.lock("other").acquire());
        String queue = ROOT + "/mutex/outgrown";
        another.create().creatingParentContainersIfNeeded().forPath(queue);
        long session = another.getZookeeperClient().getZooKeeper().getSessionId();
        for (int i = 0; i < 2 * FIT; i++) {
            another.create()
                    .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
                    .forPath("%s/%032x_m1_%x_".formatted(queue, i, session));
        }
        wait(locks.lock("outgrown"), 3);
        Waiting.until("all three are refused", () -> refused.size() == 3);
        assertThat(interruptions.get()).as("interruptions").isLessThanOrEqualTo(1);
        assertThat(other.isValid()).isTrue();
        assertThat(refused).allSatisfy(error -> assertThat(error).isInstanceOf(LockQueueFullException.class));
        int before = interruptions.get();
        wait(locks.lock("outgrown"), 3);
        Waiting.until("all six are refused", () -> refused.size() == 6);
        assertThat(interruptions).hasValue(before);
        another.close();
        Waiting.until("the others have left", () -> places() == 1);
        wait(locks.lock("outgrown"), 1);
        Waiting.forMono(Waiting.untilSome("the lock", granted::poll).release());
        Waiting.pass(Duration.ofMillis(50));
        Waiting.forMono(other.release());
    }
}
