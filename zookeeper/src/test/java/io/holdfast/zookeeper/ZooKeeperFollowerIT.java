package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** A follower is cut off from its leader without a notice, and still answers reads for five ticks. */
class ZooKeeperFollowerIT {

    private static final Duration SESSION = Duration.ofSeconds(3);
    private static final String HOST = WiredEnsemble.HOST;

    private static WiredEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble = WiredEnsemble.start(Map.of());
    }

    @AfterAll
    static void stop() throws IOException {
        ensemble.close();
    }

    @BeforeEach
    void findTheLeader() {
        ensemble.findTheLeader();
    }

    @Test
    void holderAtAFollowerThatIsCutOffLosesTheLockBeforeARivalHasIt() throws Exception {
        try (CuratorFramework cutOff = Store.connect("f", ensemble.atTheFollower(), SESSION);
                CuratorFramework onlooker = Store.connect("f", ensemble.atTheFollower(), SESSION);
                CuratorFramework near = Store.connect("f", ensemble.atTheThird(), SESSION)) {
            compete(cutOff, onlooker, near, ensemble.wireToTheLeader());
        }
    }

    /**
     * At the grant, the leader's last sign of life of the session is older than two and a half ticks. The leader receives no later one,
     * unless its ping comes in the few milliseconds before the cut.
     */
    @Test
    void firstGrantOfAnIdleSessionWhoseFollowerIsCutOffRightAfterItIsLostBeforeARivalHasTheLock() {
        Duration session = Duration.ofSeconds(4);
        try (TcpProxy wire = TcpProxy.to(HOST, ensemble.followerPort());
                CuratorFramework cutOff = Store.connect("f", HOST + ':' + wire.port(), session);
                CuratorFramework near = Store.connect("f", ensemble.atTheThird(), session)) {
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(cutOff));
            LockClient rivals = LockClient.create(ZooKeeperLockBackend.over(near));
            Waiting.forMono(Waiting.forMono(rivals.lock("idle").acquire()).release());
            Waiting.forMono(Waiting.forMono(locks.lock("idle").acquire()).release());
            Waiting.pass(Duration.ofMillis(900));
            wire.delay(Direction.TO_SERVER, Duration.ofMinutes(1));
            Waiting.pass(Duration.ofMillis(1_500));
            CompletableFuture<LockLease> acquiring =
                    locks.lock("idle").acquire().toFuture();
            wire.pass(Direction.TO_SERVER);
            LockLease lease = Waiting.forMono(Mono.fromFuture(acquiring));
            ensemble.wireToTheLeader().drop(Direction.TO_SERVER, Direction.TO_CLIENT);
            long cut = System.nanoTime();
            CompletableFuture<Long> lost =
                    lease.onLoss().map(reason -> System.nanoTime()).toFuture();
            CompletableFuture<RivalGrant> granted = grantOf(rivals.lock("idle"), lease);
            assertThat(granted).succeedsWithin(session.multipliedBy(3));
            assertLostBefore(granted.join(), lost);
            System.out.printf(
                    "idle, then cut off: loss after %d ms, rival after %d ms%n",
                    millis(lost.join() - cut), millis(granted.join().nanos() - cut));
            ensemble.wireToTheLeader().pass();
            Waiting.forMono(rivals.close());
            Waiting.forMono(locks.close());
        } finally {
            ensemble.wireToTheLeader().pass();
        }
    }

    /** The old server forwards the creation when the client is connected to another one for a long time already. The leader refuses it. */
    @Test
    void creationThatComesLateAfterAReconnectToAnotherServerLeavesNoSecondNode() throws Exception {
        try (TcpProxy first = TcpProxy.to(HOST, ensemble.followerPort());
                TcpProxy second = TcpProxy.to(HOST, ensemble.thirdPort());
                CuratorFramework eye = Store.connect("f", ensemble.atTheThird(), SESSION)) {
            second.refuse();
            String both = "%s:%d,%s:%d".formatted(HOST, first.port(), HOST, second.port());
            try (CuratorFramework moving = Store.connect("f", both, Duration.ofSeconds(8))) {
                second.accept();
                ZooKeeperLockBackend backend = ZooKeeperLockBackend.over(moving);
                LockClaim before = claim("late");
                Waiting.forMono(backend.tryAcquire(before));
                Waiting.forMono(backend.release(before));
                LockClaim claim = claim("late");
                ensemble.wireToTheLeader().delay(Direction.TO_SERVER, Duration.ofMinutes(1));
                CompletableFuture<LockAttempt> lost = backend.tryAcquire(claim).toFuture();
                Waiting.until("the follower waits for the leader", () -> !ensemble.followerHasNothingToDo());
                first.refuse();
                first.cut();
                assertThat(lost).failsWithin(Waiting.PATIENCE);
                LockAttempt granted = Waiting.forMono(backend.tryAcquire(claim.withAttempt(2))
                        .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, Duration.ofMillis(20))));
                assertThat(granted).isInstanceOf(LockAttempt.Acquired.class);
                ensemble.wireToTheLeader().pass();
                Waiting.until(
                        "the late creation has been answered",
                        Duration.ofSeconds(20),
                        ensemble::followerHasNothingToDo);
                assertThat(eye.getChildren().forPath("/holdfast/mutex/late")).hasSize(1);
                assertThat(Waiting.forMono(backend.release(claim))).isEqualTo(Ownership.HELD);
                assertThat(eye.getChildren().forPath("/holdfast/mutex/late")).isEmpty();
                Store.end(backend);
            }
        } finally {
            ensemble.wireToTheLeader().pass();
        }
    }

    /**
     * The moment at which a rival got the lock.
     *
     * @param heldIsValid whether the lease of the former holder was valid at that moment
     */
    private record RivalGrant(long nanos, boolean heldIsValid) {}

    private static CompletableFuture<RivalGrant> grantOf(ReactiveLock lock, LockLease held) {
        return lock.acquire()
                .map(rival -> new RivalGrant(System.nanoTime(), held.isValid()))
                .toFuture();
    }

    /** Compares by the holder's clock. The signal of the loss needs a thread, which a busy machine may provide later. */
    private static void assertLostBefore(RivalGrant granted, CompletableFuture<Long> lost) {
        assertThat(granted.heldIsValid())
                .as("the lease is valid when the rival holds")
                .isFalse();
        assertThat(lost).succeedsWithin(Waiting.PATIENCE);
    }

    private static LockClaim claim(String name) {
        String id = UUID.randomUUID().toString().replace("-", "");
        return LockClaim.first(
                LockKey.of(LockKind.MUTEX, name), id, Duration.ofSeconds(30), io.holdfast.spi.Waiting.QUEUE);
    }

    private static void compete(
            CuratorFramework cutOff, CuratorFramework onlooker, CuratorFramework near, TcpProxy wire) throws Exception {
        LockClient locks = LockClient.create(ZooKeeperLockBackend.over(cutOff));
        LockClient rivals = LockClient.create(ZooKeeperLockBackend.over(near));
        LockLease lease = Waiting.forMono(locks.lock("follower").acquire());
        CompletableFuture<Long> lost =
                lease.onLoss().map(reason -> System.nanoTime()).toFuture();
        CompletableFuture<RivalGrant> granted = grantOf(rivals.lock("follower"), lease);
        Waiting.until("the rival waits", () -> children(near) == 2);
        long cut = System.nanoTime();
        wire.drop(Direction.TO_SERVER, Direction.TO_CLIENT);
        AtomicLong lastRead = new AtomicLong(cut);
        while (!granted.isDone()
                && System.nanoTime() - cut < SESSION.multipliedBy(4).toNanos()) {
            readInBackground(onlooker, lastRead);
            Waiting.pass(Duration.ofMillis(50));
        }
        assertThat(granted).succeedsWithin(SESSION);
        assertLostBefore(granted.join(), lost);
        System.out.printf(
                "follower cut off: loss after %d ms, rival after %d ms; the last read that was answered was sent after %d ms%n",
                millis(lost.join() - cut), millis(granted.join().nanos() - cut), millis(lastRead.get() - cut));
        long believed = SESSION.multipliedBy(2).dividedBy(3).toNanos();
        assertThat(lastRead.get() + believed)
                .as("a lease that counted from reads would have ended at")
                .isGreaterThan(granted.join().nanos());
        wire.pass();
        Waiting.forMono(rivals.close());
        Waiting.forMono(locks.close());
    }

    private static void readInBackground(CuratorFramework client, AtomicLong lastRead) throws Exception {
        long sent = System.nanoTime();
        client.getZookeeperClient()
                .getZooKeeper()
                .exists(
                        "/",
                        false,
                        (code, path, context, stat) -> {
                            if (code == 0) {
                                lastRead.accumulateAndGet(sent, Math::max);
                            }
                        },
                        null);
    }

    private static int children(CuratorFramework client) {
        try {
            return client.getChildren().forPath("/holdfast/mutex/follower").size();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static long millis(long nanos) {
        return nanos / 1_000_000;
    }
}
