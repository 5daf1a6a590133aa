package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.testkit.LeftoversExtension;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.util.retry.Retry;

/**
 * The network loses answers, delays them, or cuts the connection. The session survives.
 *
 * <p>{@code -Dholdfast.rounds=20} repeats the tests that depend on the moment at which the driver notices a loss.
 */
class ZooKeeperFaultsIT {

    private static final int ROUNDS = Integer.getInteger("holdfast.rounds", 2);

    private static Store store;

    private final TcpProxy proxy = TcpProxy.to("127.0.0.1", store.server().port());
    private final CuratorFramework curator =
            store.client("faults", proxy.host() + ':' + proxy.port(), Duration.ofSeconds(6));

    /**
     * On a slow machine too, this client keeps a lock while other clients are cut off: a new session of 3 s would prove only a lease of 1
     * s.
     */
    private final CuratorFramework others = store.client("faults", store.address(), Duration.ofSeconds(60));

    private final ZooKeeperLockBackend backend = ZooKeeperLockBackend.over(curator);
    private final LockClient locks = LockClient.create(backend);
    private final LockClient rival = LockClient.create(ZooKeeperLockBackend.over(others));

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("tree", ZooKeeperFaultsIT::claims);

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
        proxy.pass();
        try {
            Waiting.until("no claim is left before the client is closed", () -> claims().isEmpty());
            Waiting.until(
                    "the back end knows that no claim is left",
                    () -> Waiting.forMono(backend.contents()).isEmpty());
        } finally {
            closeAll(); // nodes of one test must not fail the next one
        }
    }

    private void closeAll() {
        Waiting.forMono(locks.close());
        Waiting.forMono(rival.close());
        curator.close();
        others.close();
        proxy.close();
    }

    static IntStream rounds() {
        return IntStream.range(0, ROUNDS);
    }

    private static List<String> claims() {
        return store.claims("/faults/holdfast");
    }

    private static LockClaim claim(String name, io.holdfast.spi.Waiting waiting) {
        String id = UUID.randomUUID().toString().replace("-", "");
        return LockClaim.first(LockKey.of(LockKind.MUTEX, name), id, Duration.ofSeconds(30), waiting);
    }

    /** Creates the session, its watch and the parents, so that the next request is the first one on the wire. */
    private void warmUp(String name) {
        Waiting.forMono(Waiting.forMono(locks.lock(name).acquire()).release());
    }

    /** The transaction that creates the queue has created the node, too. */
    @ParameterizedTest
    @MethodSource("rounds")
    void lostAnswerToTheFirstCreationOfAQueueIsRepairedByTheNextAttempt(int round) {
        warmUp("another name");
        proxy.cutAfter(Direction.TO_CLIENT, 0);
        LockLease lease =
                Waiting.forMono(locks.lock("lost answer of a new name " + round).acquire());
        assertThat(claims()).as("one node, not two").hasSize(1);
        assertThat(lease.isValid()).isTrue();
        Waiting.forMono(lease.release());
    }

    @ParameterizedTest
    @MethodSource("rounds")
    void lostAnswerToTheCreationIsRepairedByTheNextAttempt(int unusedRound) {
        warmUp("lost answer");
        proxy.cutAfter(Direction.TO_CLIENT, 0);
        LockLease lease = Waiting.forMono(locks.lock("lost answer").acquire());
        assertThat(claims()).as("one node, not two").hasSize(1);
        assertThat(Waiting.forMono(rival.lock("lost answer").tryAcquire().hasElement()))
                .isFalse();
        Waiting.forMono(lease.release());
    }

    @ParameterizedTest
    @MethodSource("rounds")
    void creationThatNeverArrivedIsSentAgain(int unusedRound) {
        warmUp("never arrived");
        proxy.cutAfter(Direction.TO_SERVER, 0);
        LockLease lease = Waiting.forMono(locks.lock("never arrived").acquire());
        assertThat(claims()).hasSize(1);
        Waiting.forMono(lease.release());
    }

    @Test
    void sameClaimGetsItsOwnNodeBackAfterALostAnswer() {
        warmUp("adopted");
        LockClaim claim = claim("adopted", io.holdfast.spi.Waiting.QUEUE);
        proxy.cutAfter(Direction.TO_CLIENT, 0);
        assertThat(backend.tryAcquire(claim).toFuture()).failsWithin(Waiting.PATIENCE);
        Waiting.until("the server has created the node", () -> claims().size() == 1);
        LockAttempt answer = Waiting.forMono(
                backend.tryAcquire(claim.withAttempt(2)).retryWhen(Retry.fixedDelay(100, Duration.ofMillis(20))));
        assertThat(answer).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(claims()).hasSize(1);
        assertThat(Waiting.forMono(backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    @ParameterizedTest
    @MethodSource("rounds")
    void claimReleasedAfterALostAnswerLeavesNoNode(int unusedRound) {
        warmUp("given up");
        LockClaim claim = claim("given up", io.holdfast.spi.Waiting.QUEUE);
        proxy.cutAfter(Direction.TO_CLIENT, 0);
        var attempt = backend.tryAcquire(claim).subscribe(answer -> {}, error -> {});
        Waiting.until("the server has created the node", () -> claims().size() == 1);
        attempt.dispose();
        Ownership released =
                Waiting.forMono(backend.release(claim).retryWhen(Retry.fixedDelay(200, Duration.ofMillis(20))));
        assertThat(released).isEqualTo(Ownership.NOT_HELD);
        assertThat(claims()).isEmpty();
    }

    @Test
    void acquireThatIsCancelledWhileItsCreationIsUnderWayLeavesNoNode() {
        warmUp("under way");
        proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(300));
        var acquiring = locks.lock("under way").acquire().subscribe();
        Waiting.until("the server has created the node", () -> claims().size() == 1);
        acquiring.dispose();
        Waiting.until("the node is gone", () -> claims().isEmpty());
        proxy.pass();
        Waiting.forMono(Waiting.forMono(rival.lock("under way").tryAcquire()).release());
    }

    @Test
    void cancelledReleaseIsStillCarriedOut() {
        warmUp("left");
        LockClaim claim = claim("left", io.holdfast.spi.Waiting.QUEUE);
        proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(500));
        CompletableFuture<LockAttempt> attempt = backend.tryAcquire(claim).toFuture();
        Disposable release = backend.release(claim).subscribe();
        release.dispose();
        assertThat(attempt).succeedsWithin(Waiting.PATIENCE);
        proxy.pass();
        Waiting.until("its node is gone", () -> claims().isEmpty());
    }

    @Test
    void backEndClosedDuringAReconnectLeavesNoNode() {
        ZooKeeperLockBackend closing = ZooKeeperLockBackend.over(curator);
        LockClaim claim = claim("closing", io.holdfast.spi.Waiting.QUEUE);
        Waiting.forMono(closing.tryAcquire(claim));
        proxy.cut();
        Waiting.until(
                "the loss of the connection is known",
                () -> closing.renew(claim)
                        .toFuture()
                        .handle((answer, error) -> error != null)
                        .join());
        Waiting.forMono(closing.close());
        assertThat(claims()).isEmpty();
    }

    @Test
    void shorterSessionTimeoutAfterAReconnectIsALoss() {
        // The session time-out is long, so that the driver reconnects before a lease ends.
        CuratorFramework patient = Store.connect("faults", proxy.host() + ':' + proxy.port(), Duration.ofSeconds(60));
        LockClient locksOfIt = LockClient.create(ZooKeeperLockBackend.over(patient));
        LockLease lease = Waiting.forMono(locksOfIt.lock("shorter").acquire());
        int longest = store.server().inside().getMaxSessionTimeout();
        store.server().inside().setMaxSessionTimeout(2_000);
        try {
            proxy.cut();
            assertThat(Waiting.forMono(lease.onLoss())).isEqualTo(LossReason.DISCONNECTED);
        } finally {
            store.server().inside().setMaxSessionTimeout(longest);
            Waiting.forMono(locksOfIt.close());
            patient.close();
        }
    }

    @Test
    void sessionWhoseFirstWatchWasLostIsWatchedAfterTheReconnect() throws Exception {
        long session = curator.getZookeeperClient().getZooKeeper().getSessionId();
        int connections = store.server().connections();
        long accepted = proxy.connections();
        assertThat(store.server().isWatchedBy(session)).isFalse();
        proxy.cutAfter(Direction.TO_CLIENT, 0);
        assertThat(backend.ping().toFuture()).failsWithin(Waiting.PATIENCE);
        Waiting.until(
                "the first connection is gone, and another one is there",
                () -> proxy.connections() > accepted && store.server().connections() == connections);
        Waiting.until("the session is watched again", () -> store.server().isWatchedBy(session));
    }

    @Test
    void queueThatTheServerRemovesBetweenTwoAttemptsIsMadeAgain() throws Exception {
        LockLease lease = Waiting.forMono(rival.lock("container").acquire());
        LockClaim claim = claim("container", io.holdfast.spi.Waiting.NONE);
        assertThat(Waiting.forMono(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Contended.class);
        Waiting.forMono(lease.release());
        store.server().removeEmptyContainers();
        Waiting.until("the server has removed the queue", () -> !exists("/faults/holdfast/mutex/container"));
        assertThat(Waiting.forMono(backend.tryAcquire(claim.withAttempt(2)))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Waiting.forMono(backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    private static boolean exists(String path) {
        try {
            return store.eye().checkExists().forPath(path) != null;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void refusedReleaseIsRepeatedWithoutAReconnect() throws Exception {
        LockClaim claim = claim("refused", io.holdfast.spi.Waiting.QUEUE);
        Waiting.forMono(backend.tryAcquire(claim));
        String queue = "/faults/holdfast/mutex/refused";
        List<ACL> allButDelete =
                List.of(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE, ZooDefs.Ids.ANYONE_ID_UNSAFE));
        store.eye().setACL().withACL(allButDelete).forPath(queue);
        assertThat(backend.release(claim).toFuture()).failsWithin(Waiting.PATIENCE);
        assertThat(claims()).hasSize(1);
        store.eye().setACL().withACL(ZooDefs.Ids.OPEN_ACL_UNSAFE).forPath(queue);
        Waiting.until("the node is gone without another request of the user", () -> claims().isEmpty());
    }

    /** The first creation is delayed and the second one waits. Then the first one is carried out after all. */
    @Test
    void claimDoesNotWaitBehindItsOwnOlderNode() throws Exception {
        LockLease lease = Waiting.forMono(rival.lock("twice").acquire());
        LockClaim claim = claim("twice", io.holdfast.spi.Waiting.QUEUE);
        Waiting.forMono(backend.ping());
        curator.delete()
                .forPath(curator.create()
                        .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
                        .forPath("/holdfast/mutex/twice/spare_")); // takes the number of the late creation
        proxy.cutAfter(Direction.TO_SERVER, 0);
        assertThat(backend.tryAcquire(claim).toFuture()).failsWithin(Waiting.PATIENCE);
        LockAttempt queued = Waiting.forMono(
                backend.tryAcquire(claim.withAttempt(2)).retryWhen(Retry.fixedDelay(100, Duration.ofMillis(20))));
        assertThat(queued).isInstanceOf(LockAttempt.Queued.class);
        long session = curator.getZookeeperClient().getZooKeeper().getSessionId();
        String late = "/holdfast/mutex/twice/" + QueueNode.prefix(claim, session) + "0000000001";
        curator.create().withMode(CreateMode.EPHEMERAL).forPath(late);
        LockAttempt still = Waiting.forMono(backend.tryAcquire(claim.withAttempt(3)));
        assertThat(still).isInstanceOf(LockAttempt.Queued.class);
        Waiting.forMono(lease.release());
        Waiting.until(
                "the claim holds the lock",
                () -> Waiting.forMono(backend.tryAcquire(claim.withAttempt(4))) instanceof LockAttempt.Acquired);
        assertThat(claims()).as("one node, not two").hasSize(1);
        assertThat(Waiting.forMono(backend.release(claim))).isEqualTo(Ownership.HELD);
        assertThat(claims()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("rounds")
    void lostAnswerToTheReleaseIsARelease(int unusedRound) {
        LockLease lease = Waiting.forMono(locks.lock("released").acquire());
        proxy.cutAfter(Direction.TO_CLIENT, 0);
        Waiting.forMono(lease.release());
        // The release completes after one operation time-out at the latest, and continues in the background.
        Waiting.until("the node is gone", () -> claims().isEmpty());
    }

    @Test
    void unsentReleaseIsSentAfterTheReconnect() {
        LockClaim claim = claim("made up", io.holdfast.spi.Waiting.QUEUE);
        Waiting.forMono(backend.tryAcquire(claim));
        proxy.refuse();
        proxy.cut();
        Waiting.until(
                "the loss of the connection is known",
                () -> backend.renew(claim)
                        .toFuture()
                        .handle((answer, error) -> error != null)
                        .join());
        assertThat(backend.release(claim).toFuture()).failsWithin(Waiting.PATIENCE);
        proxy.pass();
        Waiting.until("the node is gone without another request of the user", () -> claims().isEmpty());
    }

    @Test
    void waiterThatLeavesWhileDisconnectedIsNotGrantedLater() {
        LockLease lease = Waiting.forMono(rival.lock("left").acquire());
        var waiting = locks.lock("left").acquire().subscribe();
        Waiting.until("queued", () -> claims().size() == 2);
        proxy.refuse();
        proxy.cut();
        waiting.dispose();
        Waiting.forMono(lease.release());
        proxy.pass();
        Waiting.until("its place is gone", () -> claims().isEmpty());
    }

    @Test
    void handOffMissedWhileDisconnectedIsFoundAfterTheReconnect() {
        LockLease lease = Waiting.forMono(rival.lock("missed").acquire());
        var waiting = locks.lock("missed").acquire().toFuture();
        Waiting.until("queued", () -> claims().size() == 2);
        proxy.refuse();
        proxy.cut();
        Waiting.forMono(lease.release());
        proxy.pass();
        // This is sooner than the next attempt, which comes after ten seconds.
        assertThat(waiting).succeedsWithin(Duration.ofSeconds(8));
        Waiting.forMono(waiting.join().release());
    }

    @Test
    void slowNetworkCostsTimeAndNothingElse() {
        proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(100));
        proxy.delay(Direction.TO_SERVER, Duration.ofMillis(100));
        LockOptions options =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(10)).build();
        for (int round = 0; round < 3; round++) {
            LockLease lease = Waiting.forMono(locks.lock("slow").with(options).acquire());
            assertThat(lease.isValid()).isTrue();
            Waiting.forMono(lease.release());
        }
    }

    @Test
    void connectionThatIsCutAgainAndAgainLeavesNothingBehind() {
        LockOptions options =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(25)).build();
        for (int round = 0; round < 8; round++) {
            proxy.cutAfter(round % 2 == 0 ? Direction.TO_CLIENT : Direction.TO_SERVER, 37L * round);
            LockLease lease = Waiting.forMono(locks.lock("cut").with(options).acquire());
            assertThat(claims()).hasSize(1);
            Waiting.forMono(lease.release());
        }
    }
}
