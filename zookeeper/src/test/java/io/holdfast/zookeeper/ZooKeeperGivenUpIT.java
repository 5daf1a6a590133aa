package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.testkit.LeftoversExtension;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An attempt finds the queue full and tries to leave its place, but the server refuses to delete the node. The claim sends another attempt. */
class ZooKeeperGivenUpIT {

    private static final String ROOT = "/given/holdfast";
    private static final String QUEUE = ROOT + "/mutex/full";

    private static Store store;
    private static CuratorFramework curator;
    private static CuratorFramework otherCurator;

    private final ZooKeeperLockBackend backend =
            ZooKeeperLockBackend.builder(curator).maxWaiters(1).build();
    private final LockClient others = LockClient.create(ZooKeeperLockBackend.over(otherCurator));

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("tree", () -> store.claims(ROOT));

    @BeforeAll
    static void start() throws Exception {
        store = Store.start();
        store.eye().create().forPath("/given");
        curator = store.client("given", store.address(), Duration.ofSeconds(20));
        otherCurator = store.client("given", store.address(), Duration.ofSeconds(20));
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @AfterEach
    void close() {
        Waiting.forMono(backend.close());
        Waiting.forMono(others.close());
    }

    private static void mayDelete(boolean may) throws Exception {
        int rights = may ? ZooDefs.Perms.ALL : ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE;
        store.eye()
                .setACL()
                .withACL(List.of(new ACL(rights, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
                .forPath(QUEUE);
    }

    @Test
    void claimThatCouldNotLeaveItsPlaceTakesAnotherOne() throws Exception {
        LockLease held = Waiting.forMono(others.lock("full").acquire());
        CompletableFuture<LockLease> waiter = others.lock("full").acquire().toFuture();
        Waiting.until("another client waits", () -> store.claims(ROOT).size() == 2);
        LockClaim claim = claim("claim");
        mayDelete(false);
        assertThat(backend.tryAcquire(claim).toFuture()).failsWithin(Waiting.PATIENCE);
        mayDelete(true);
        assertThat(store.claims(ROOT)).as("the node of the refused claim stays").hasSize(3);

        Waiting.forMono(held.release());
        assertThat(waiter).succeedsWithin(Waiting.PATIENCE);
        Waiting.forMono(waiter.join().release());
        LockAttempt answer = Waiting.forMono(backend.tryAcquire(claim.withAttempt(2)));
        assertThat(answer).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(store.claims(ROOT)).hasSize(1);
        assertThat(Waiting.forMono(others.lock("full").tryAcquire().hasElement()))
                .isFalse();
        assertThat(Waiting.forMono(backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    /** The claim's node still exists, and the claim behind it has passed it. */
    @Test
    void claimThatCouldNotLeaveItsPlaceDoesNotHoldBesideTheClaimThatPassedIt() throws Exception {
        LockLease held = Waiting.forMono(others.lock("full").acquire());
        CompletableFuture<LockLease> waiter = others.lock("full").acquire().toFuture();
        Waiting.until("another client waits", () -> store.claims(ROOT).size() == 2);
        LockClaim claim = claim("first");
        mayDelete(false);
        assertThat(backend.tryAcquire(claim).toFuture()).failsWithin(Waiting.PATIENCE);
        mayDelete(true);
        Waiting.forMono(held.release());
        assertThat(waiter).succeedsWithin(Waiting.PATIENCE);
        Waiting.forMono(waiter.join().release());

        LockClaim next = claim("second");
        assertThat(Waiting.forMono(backend.tryAcquire(next))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Waiting.forMono(backend.tryAcquire(claim.withAttempt(2)))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(Waiting.forMono(backend.release(next))).isEqualTo(Ownership.HELD);
        assertThat(Waiting.forMono(backend.tryAcquire(claim.withAttempt(3)))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Waiting.forMono(backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    private static LockClaim claim(String id) {
        return LockClaim.first(
                LockKey.of(LockKind.MUTEX, "full"), id, Duration.ofSeconds(30), io.holdfast.spi.Waiting.QUEUE);
    }
}
