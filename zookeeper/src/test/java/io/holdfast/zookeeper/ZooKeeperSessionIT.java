package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.testkit.LeftoversExtension;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.listen.UnaryListenerManager;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** How the events of a session affect its locks. */
class ZooKeeperSessionIT {

    private static Store store;

    /** The first lease is a third of it. That is longer than the driver's pauses between reconnects, up to a second each. */
    private static final Duration SESSION = Duration.ofSeconds(30);

    private final CuratorFramework curator = store.client("app", store.address(), SESSION);
    private final CuratorFramework rivals = store.client("app");
    private LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));
    private final LockClient rival = LockClient.create(ZooKeeperLockBackend.over(rivals));

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension()
            .watch("tree", () -> store.claims("/app/holdfast"))
            .watch("watches", () -> watchesLeft() == 0 ? List.of() : List.of(watchesLeft()));

    @BeforeAll
    static void start() {
        store = Store.start();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @AfterEach
    void close() {
        Waiting.forMono(locks.close());
        Waiting.forMono(rival.close());
        curator.close();
        rivals.close();
        Waiting.until("watches of closed clients are gone", () -> watchesLeft() == 0);
        Waiting.until(
                "nodes of closed clients are gone",
                () -> store.claims("/app/holdfast").isEmpty());
    }

    /** Curator watches the configuration of the ensemble, also with the test's own client. */
    private static int watchesLeft() {
        return Math.max(0, store.server().watches() - 1);
    }

    private static LockLease held(LockClient client, String name) {
        return Waiting.forMono(client.lock(name).acquire());
    }

    private static LossReason loss(LockLease lease) {
        return Waiting.forMono(lease.onLoss());
    }

    @Test
    void leaseDependsOnTheSessionAndNotOnTheRequestedDuration() {
        LockOptions options =
                LockOptions.builder().leaseDuration(Duration.ofMinutes(10)).build();
        LockLease lease = Waiting.forMono(locks.lock("validity").with(options).acquire());
        assertThat(lease.remaining())
                .isLessThanOrEqualTo(SESSION.multipliedBy(2).dividedBy(3))
                .isGreaterThan(SESSION.dividedBy(10));
        Waiting.forMono(lease.release());
    }

    @Test
    void leaseOutlivesItsSessionTimeoutWhileItIsRenewed() {
        Duration shorter = Duration.ofSeconds(8);
        CuratorFramework own = store.client("app", store.address(), shorter);
        LockClient locksOfIt = LockClient.create(ZooKeeperLockBackend.over(own));
        LockLease lease = held(locksOfIt, "renewed");
        Waiting.pass(shorter.plusSeconds(1));
        assertThat(lease.isValid()).isTrue();
        assertThat(Waiting.forMono(rival.lock("renewed").tryAcquire().hasElement()))
                .isFalse();
        Waiting.forMono(lease.release());
        Waiting.forMono(locksOfIt.close());
        own.close();
    }

    @Test
    void nodeDeletedByAnotherProgramIsALossAtOnce() {
        LockOptions watchedOnly = LockOptions.builder().autoRenew(false).build();
        LockLease lease =
                Waiting.forMono(locks.lock("deleted").with(watchedOnly).acquire());
        store.claims("/app/holdfast").forEach(store::delete);
        assertThat(loss(lease)).isEqualTo(LossReason.NOT_HELD);
        Waiting.forMono(held(rival, "deleted").release());
    }

    @Test
    void expiredSessionIsALossAndTheNextSessionServesAgain() throws Exception {
        LockLease lease = held(locks, "expired");
        store.server().expire(curator.getZookeeperClient().getZooKeeper().getSessionId());
        // The end of the node may be reported before the end of the session, and both after the deadline.
        assertThat(loss(lease)).isIn(LossReason.DISCONNECTED, LossReason.NOT_HELD, LossReason.EXPIRED);
        LockLease next = held(locks, "expired");
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        Waiting.forMono(next.release());
    }

    private static LockClaim claim(String name) {
        String id = UUID.randomUUID().toString().replace("-", "");
        return LockClaim.first(
                LockKey.of(LockKind.MUTEX, name), id, Duration.ofSeconds(30), io.holdfast.spi.Waiting.QUEUE);
    }

    /** Opens the next session, which deletes the nodes that the last one left. */
    private static void nextSession(ZooKeeperLockBackend backend) {
        boolean unused = Waiting.forMono(backend.ping()
                .retryWhen(Retry.fixedDelay(100, Duration.ofMillis(50)))
                .thenReturn(true));
    }

    private void endTheSession() throws Exception {
        curator.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
    }

    @Test
    void lossWithoutASubscriberIsEmittedToTheNextSubscriber() throws Exception {
        ZooKeeperLockBackend backend = ZooKeeperLockBackend.over(curator);
        LockClaim claim = claim("unwatched");
        Waiting.forMono(backend.tryAcquire(claim));
        endTheSession();
        Waiting.until(
                "the loss is known",
                () -> Waiting.forMono(backend.contents()).stream().noneMatch(it -> it.startsWith("held")));
        List<WatchSignal> signals = Waiting.forMono(backend.watch(claim)
                .filter(signal ->
                        !(signal instanceof WatchSignal.Changed)) // caused by the next session, which may begin now
                .take(2)
                .collectList());
        assertThat(signals).containsExactly(new WatchSignal.Armed(), new WatchSignal.Lost(LossReason.DISCONNECTED));
        nextSession(backend);
        Waiting.forMono(backend.release(claim));
        Store.end(backend);
    }

    @Test
    void renewalAfterTheEndOfItsSessionLeavesTheReasonToTheSignal() throws Exception {
        ZooKeeperLockBackend backend = ZooKeeperLockBackend.over(curator);
        LockClaim claim = claim("reason");
        Waiting.forMono(backend.tryAcquire(claim));
        var lost = backend.watch(claim).ofType(WatchSignal.Lost.class).next().toFuture();
        var stays = backend.watch(claim).subscribe();
        endTheSession();
        assertThat(lost).succeedsWithin(Waiting.PATIENCE).isEqualTo(new WatchSignal.Lost(LossReason.DISCONNECTED));
        assertThatThrownBy(() -> Waiting.forMono(backend.renew(claim)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("the session has ended");
        stays.dispose();
        assertThat(Waiting.forMono(backend.renew(claim)))
                .as("for a holder without a watch")
                .isEqualTo(new Renewal.NotHeld());
        nextSession(backend);
        Waiting.forMono(backend.release(claim));
        Store.end(backend);
    }

    @Test
    void backEndThatIsClosedWhileItLooksForItsSessionLeavesNoListener() {
        int before = listeners();
        CountDownLatch isAboutToListen = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        CountDownLatch listens = new CountDownLatch(1);
        CuratorFramework slow = before(curator, method -> {
            if (method.equals("getConnectionStateListenable") && isAboutToListen.getCount() > 0) {
                isAboutToListen.countDown();
                passed(goesOn);
            } else if (method.equals("getZookeeperClient")) {
                listens.countDown();
            }
        });
        ZooKeeperLockBackend backend = ZooKeeperLockBackend.over(slow);
        var ping = backend.ping().toFuture();
        passed(isAboutToListen);
        Store.end(backend);
        assertThat(ping).failsWithin(Waiting.PATIENCE);
        goesOn.countDown();
        passed(listens);
        Waiting.until("the back end does not listen any more", () -> listeners() == before);
    }

    private static CuratorFramework before(CuratorFramework client, Consumer<String> call) {
        return (CuratorFramework) Proxy.newProxyInstance(
                CuratorFramework.class.getClassLoader(),
                new Class<?>[] {CuratorFramework.class},
                (self, method, arguments) -> {
                    call.accept(method.getName());
                    return method.invoke(client, arguments);
                });
    }

    private static void passed(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private int listeners() {
        return ((UnaryListenerManager<?>) curator.getConnectionStateListenable()).size();
    }

    /** The client drops its session, and the server does not know that yet. */
    @Test
    void nextSessionDeletesTheNodesOfALostSession() throws Exception {
        LockLease lease = held(locks, "swept");
        curator.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
        assertThat(loss(lease)).isEqualTo(LossReason.DISCONNECTED);
        Duration soonerThanTheServer = SESSION.dividedBy(2);
        Waiting.until(
                "the node of the lost session is deleted",
                soonerThanTheServer,
                () -> store.claims("/app/holdfast").isEmpty());
        Waiting.forMono(held(rival, "swept").release());
    }

    @Test
    void waiterWhoseSessionExpiredQueuesAgain() throws Exception {
        LockLease lease = held(rival, "again");
        var waiting = locks.lock("again").acquire().toFuture();
        Waiting.until("queued", () -> store.claims("/app/holdfast").size() == 2);
        store.server().expire(curator.getZookeeperClient().getZooKeeper().getSessionId());
        Waiting.until(
                "queued again",
                () -> store.claims("/app/holdfast").size() == 2 && !waiting.isDone() && connectedAgain());
        Waiting.forMono(lease.release());
        assertThat(waiting).succeedsWithin(Waiting.PATIENCE);
        Waiting.forMono(waiting.join().release());
    }

    private boolean connectedAgain() {
        return curator.getZookeeperClient().isConnected();
    }

    @Test
    void sessionThatItsOwnerClosesIsALossAtOnce() {
        LockLease lease = held(locks, "closed");
        curator.close();
        assertThat(loss(lease)).isIn(LossReason.DISCONNECTED, LossReason.NOT_HELD);
        assertThatThrownBy(() -> held(locks, "closed"))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("its owner has closed the Curator client");
    }

    @Test
    void shortInterruptionIsNoLoss() {
        LockLease lease = held(locks, "interrupted");
        store.server().stop();
        store.server().begin();
        Waiting.forMono(lease.renew().retryWhen(Retry.fixedDelay(100, Duration.ofMillis(50))));
        assertThat(lease.isValid()).isTrue();
        Waiting.forMono(lease.release());
    }

    @Test
    void interruptionIsALossAtOnceWithFailFast() {
        LockClient cautious = LockClient.create(
                ZooKeeperLockBackend.builder(curator).failFast(true).build());
        LockLease lease = held(cautious, "cautious");
        store.server().stop();
        long start = System.nanoTime();
        assertThat(loss(lease)).isEqualTo(LossReason.DISCONNECTED);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SESSION.dividedBy(2));
        store.server().begin();
        Waiting.forMono(held(rival, "cautious").release());
        Waiting.forMono(cautious.close());
    }

    @Test
    void waiterKeepsItsPlaceOverAShortInterruption() {
        LockLease lease = held(locks, "place");
        var first = rival.lock("place").acquire().toFuture();
        Waiting.until("queued", () -> store.claims("/app/holdfast").size() == 2);
        var second = locks.lock("place").acquire().toFuture();
        Waiting.until("queued", () -> store.claims("/app/holdfast").size() == 3);
        store.server().stop();
        store.server().begin();
        Waiting.until("connected again", this::connectedAgain);
        Waiting.forMono(lease.release());
        assertThat(first).succeedsWithin(Waiting.PATIENCE);
        assertThat(second).isNotDone();
        Waiting.forMono(first.join().release());
        assertThat(second).succeedsWithin(Waiting.PATIENCE);
        Waiting.forMono(second.join().release());
    }

    @Test
    void clientThatIsNotStartedIsAClearError() {
        try (CuratorFramework idle = CuratorFrameworkFactory.newClient(store.address(), new RetryOneTime(1))) {
            LockClient early = LockClient.create(ZooKeeperLockBackend.over(idle));
            assertThatThrownBy(() -> Waiting.forMono(early.lock("early").tryAcquire()))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("start it before you use the locks");
            Waiting.forMono(early.close());
        }
    }

    @Test
    void firstAcquireWaitsForTheFirstConnection() {
        try (CuratorFramework fresh = CuratorFrameworkFactory.newClient(store.address(), new RetryOneTime(1))) {
            fresh.start();
            LockClient early = LockClient.create(
                    ZooKeeperLockBackend.builder(fresh).root("/app/holdfast").build());
            LockLease lease = Waiting.forMono(early.lock("first").tryAcquire());
            assertThat(lease.isValid()).isTrue();
            Waiting.forMono(lease.release());
            Waiting.forMono(early.close());
        }
    }

    @Test
    void closingReleasesAllClaimsAndLeavesTheClientOpen() {
        ZooKeeperLockBackend backend = ZooKeeperLockBackend.over(curator);
        LockClient closed = LockClient.create(backend);
        LockLease lease = held(closed, "given up");
        var waiting = closed.lock("given up").acquire().toFuture();
        Waiting.until("queued", () -> store.claims("/app/holdfast").size() == 2);
        Waiting.forMono(closed.close());
        assertThat(loss(lease)).isEqualTo(LossReason.CLIENT_CLOSED);
        assertThat(waiting).isCompletedExceptionally();
        assertThat(store.claims("/app/holdfast")).isEmpty();
        assertThat(connectedAgain()).isTrue();
        assertThat(backend.watchCount()).isZero();
        Waiting.forMono(held(locks, "given up").release());
    }

    @Test
    void closingBeginsAtTheCallAndNotAtTheSubscription() {
        ZooKeeperLockBackend backend = ZooKeeperLockBackend.over(curator);
        LockClient careless = LockClient.builder(backend).closeBackend(false).build();
        var unused = held(careless, "careless");
        Mono<Void> ignored = backend.close();
        Waiting.until(
                "all claims are released", () -> store.claims("/app/holdfast").isEmpty());
        Waiting.forMono(ignored);
        Waiting.forMono(careless.close());
    }

    @Test
    void claimsThatWereNotReleasedEndWhenTheirBackEndCloses() {
        ZooKeeperLockBackend backend = ZooKeeperLockBackend.over(curator);
        LockClient careless = LockClient.builder(backend).closeBackend(false).build();
        LockLease lease = held(careless, "careless");
        Waiting.forMono(backend.close());
        assertThat(store.claims("/app/holdfast")).isEmpty();
        assertThat(lease.fencingToken()).isPositive();
        Waiting.forMono(careless.close());
    }
}
