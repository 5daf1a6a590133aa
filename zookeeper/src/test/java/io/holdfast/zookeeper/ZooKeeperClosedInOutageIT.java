package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.testkit.LeftoversExtension;
import io.holdfast.testkit.server.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A client closes while its nodes cannot be deleted, and its borrowed session goes on. The back end deletes the nodes later, so other
 * clients do not wait until that session ends.
 */
class ZooKeeperClosedInOutageIT {

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final String ROOT = "/closed/holdfast";

    private static Store store;

    private final TcpProxy proxy = TcpProxy.to("127.0.0.1", store.server().port());
    private CuratorFramework curator;
    private LockClient locks;
    private LockClient others;

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("tree", () -> store.claims(ROOT));

    @BeforeAll
    static void start() throws Exception {
        store = Store.start();
        store.eye().create().forPath("/closed");
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @BeforeEach
    void connect() {
        curator = store.client("closed", "127.0.0.1:" + proxy.port(), LONG);
        locks = LockClient.create(ZooKeeperLockBackend.over(curator));
        others = LockClient.create(ZooKeeperLockBackend.over(store.client("closed", store.address(), LONG)));
    }

    @AfterEach
    void close() {
        Waiting.forMono(others.close());
        curator.close();
        proxy.close();
    }

    @Test
    void nodeThatAServerRefusesToDeleteIsDeletedLater() throws Exception {
        CompletableFuture<LockLease> waiter = waiterBehindTheClosingClient();
        mayDelete(false);
        Waiting.forMono(locks.close());
        assertThat(store.claims(ROOT)).as("the server refuses").hasSize(2);
        mayDelete(true);
        isGrantedInTheSameSession(waiter);
    }

    @Test
    void nodeIsDeletedWhenAServerIsReachedAgain() throws Exception {
        CompletableFuture<LockLease> waiter = waiterBehindTheClosingClient();
        proxy.refuse();
        proxy.cut();
        Waiting.forMono(locks.close());
        assertThat(store.claims(ROOT)).as("no request arrives").hasSize(2);
        proxy.accept();
        isGrantedInTheSameSession(waiter);
    }

    private CompletableFuture<LockLease> waiterBehindTheClosingClient() {
        Waiting.forMono(locks.lock("full").acquire());
        CompletableFuture<LockLease> waiter = others.lock("full").acquire().toFuture();
        Waiting.until("another client waits", () -> store.claims(ROOT).size() == 2);
        return waiter;
    }

    private void isGrantedInTheSameSession(CompletableFuture<LockLease> waiter) throws Exception {
        long session = curator.getZookeeperClient().getZooKeeper().getSessionId();
        assertThat(waiter).succeedsWithin(Waiting.PATIENCE);
        assertThat(curator.getZookeeperClient().getZooKeeper().getSessionId()).isEqualTo(session);
        Waiting.forMono(waiter.join().release());
    }

    private void mayDelete(boolean may) throws Exception {
        int rights = may ? ZooDefs.Perms.ALL : ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE;
        store.eye()
                .setACL()
                .withACL(List.of(new ACL(rights, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
                .forPath(ROOT + "/mutex/full");
    }
}
