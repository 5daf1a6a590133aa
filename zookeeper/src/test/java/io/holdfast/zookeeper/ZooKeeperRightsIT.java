package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException.NoAuthException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Access rights on a real server: which clients may touch the nodes of locks. */
class ZooKeeperRightsIT {

    private static final class CreatorsOnly implements ACLProvider {

        @Override
        public List<ACL> getDefaultAcl() {
            return Ids.CREATOR_ALL_ACL;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return null;
        }
    }

    private static Store store;

    @BeforeAll
    static void start() {
        store = Store.start();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    private static CuratorFramework digest(String credentials, ACLProvider rights) throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(store.address())
                .sessionTimeoutMs(10_000)
                .retryPolicy(new RetryOneTime(100))
                .authorization("digest", credentials.getBytes(StandardCharsets.UTF_8))
                .aclProvider(rights)
                .build();
        client.start();
        client.blockUntilConnected();
        return client;
    }

    /** Returns the nodes from the claim up to the root of the locks. */
    private static List<String> upwards(String claim) {
        String queue = claim.substring(0, claim.lastIndexOf('/'));
        String kind = queue.substring(0, queue.lastIndexOf('/'));
        return List.of(claim, queue, kind, kind.substring(0, kind.lastIndexOf('/')));
    }

    @Test
    void nodesHaveTheRightsOfTheBorrowedClientSoThatStrangersCannotTouchThem() throws Exception {
        try (CuratorFramework mine = digest("app:secret", new CreatorsOnly());
                CuratorFramework stranger = digest("other:guess", new CreatorsOnly())) {
            LockClient locks = LockClient.create(
                    ZooKeeperLockBackend.builder(mine).root("/inherited").build());
            LockLease lease = Waiting.forMono(locks.lock("mine").acquire());
            String claim = "/inherited/mutex/mine/"
                    + mine.getChildren().forPath("/inherited/mutex/mine").get(0);
            for (String path : upwards(claim)) {
                assertThatThrownBy(() -> stranger.getChildren().forPath(path))
                        .as("list of %s", path)
                        .isInstanceOf(NoAuthException.class);
                assertThatThrownBy(() -> store.eye().setData().forPath(path, new byte[1]))
                        .as("change of %s", path)
                        .isInstanceOf(NoAuthException.class);
            }
            assertThatThrownBy(() -> store.eye().delete().forPath(claim)).isInstanceOf(NoAuthException.class);
            LockClient theirs = LockClient.create(
                    ZooKeeperLockBackend.builder(stranger).root("/inherited").build());
            assertThatThrownBy(() -> Waiting.forMono(theirs.lock("mine").acquire()))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("access rights");
            assertThat(lease.isValid()).isTrue();
            Waiting.forMono(theirs.close());
            Waiting.forMono(lease.release());
            Waiting.forMono(locks.close());
        }
    }

    /** With {@code digest}, the rights of a node name the user and the password together. */
    @Test
    void aNewPasswordNeedsNewNodesAndTokensStillRise() throws Exception {
        long before;
        try (CuratorFramework old = digest("app:old", new CreatorsOnly())) {
            before = tokenUnder(old);
            try (CuratorFramework tooEarly = digest("app:new", new CreatorsOnly())) {
                assertThatThrownBy(() -> tokenUnder(tooEarly))
                        .isInstanceOf(LockBackendException.class)
                        .hasMessageContaining("access rights");
            }
            old.delete().deletingChildrenIfNeeded().forPath("/renewed");
        }
        try (CuratorFramework renewed = digest("app:new", new CreatorsOnly())) {
            assertThat(tokenUnder(renewed)).isGreaterThan(before);
        }
    }

    private static long tokenUnder(CuratorFramework client) {
        LockClient locks = LockClient.create(
                ZooKeeperLockBackend.builder(client).root("/renewed").build());
        try {
            LockLease lease = Waiting.forMono(locks.lock("mine").acquire());
            Waiting.forMono(lease.release());
            return lease.fencingToken();
        } finally {
            Waiting.forMono(locks.close());
        }
    }

    @Test
    void viewsOfAClientHaveItsRightsToo() throws Exception {
        try (CuratorFramework mine = digest("app:secret", new CreatorsOnly())) {
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(mine.usingNamespace("view")));
            LockLease lease = Waiting.forMono(locks.lock("mine").acquire());
            assertThatThrownBy(() -> store.eye().getChildren().forPath("/view/holdfast/mutex/mine"))
                    .isInstanceOf(NoAuthException.class);
            Waiting.forMono(lease.release());
            Waiting.forMono(locks.close());
        }
    }

    @Test
    void rightsOfTheBuilderReplaceThoseOfTheClient() throws Exception {
        try (CuratorFramework open = store.client("");
                CuratorFramework mine = digest("app:secret", new CreatorsOnly())) {
            ACLProvider readable = new ACLProvider() {
                @Override
                public List<ACL> getDefaultAcl() {
                    return getAclForPath("");
                }

                @Override
                public List<ACL> getAclForPath(String path) {
                    return List.of(Ids.CREATOR_ALL_ACL.get(0), Ids.READ_ACL_UNSAFE.get(0));
                }
            };
            LockClient locks = LockClient.create(ZooKeeperLockBackend.builder(mine)
                    .root("/explicit")
                    .acl(readable)
                    .build());
            LockLease lease = Waiting.forMono(locks.lock("mine").acquire());
            String claim = "/explicit/mutex/mine/"
                    + open.getChildren().forPath("/explicit/mutex/mine").get(0);
            assertThatThrownBy(() -> open.delete().forPath(claim)).isInstanceOf(NoAuthException.class);
            Waiting.forMono(lease.release());
            Waiting.forMono(locks.close());
        }
    }

    /** Each acquisition takes a share of the free room of the queue while it is under way. */
    @Test
    void acquisitionsThatFailInTheAclProviderDoNotBlockLaterOnes() throws Exception {
        AtomicBoolean isBroken = new AtomicBoolean();
        ACLProvider sometimes = new ACLProvider() {
            @Override
            public List<ACL> getDefaultAcl() {
                return getAclForPath("");
            }

            @Override
            public List<ACL> getAclForPath(String path) {
                if (isBroken.get()) {
                    throw new IllegalStateException("no rights known at the moment");
                }
                return Ids.CREATOR_ALL_ACL;
            }
        };
        try (CuratorFramework mine = digest("app:secret", new CreatorsOnly())) {
            LockClient locks = LockClient.create(ZooKeeperLockBackend.builder(mine)
                    .root("/broken")
                    .acl(sometimes)
                    .maxWaiters(10)
                    .build());
            isBroken.set(true);
            assertThatThrownBy(() -> Waiting.forMono(locks.lock("mine").acquire()))
                    .hasMessageContaining("no rights known at the moment");
            isBroken.set(false);
            LockLease lease = Waiting.forMono(locks.lock("mine").acquire());
            Waiting.forMono(lease.release());
            Waiting.forMono(locks.close());
        }
    }

    /** Without the watch, the back end would forget its queues with each heartbeat. */
    @Test
    void sessionIsWatchedWithoutAnyRightToRead() throws Exception {
        store.eye()
                .create()
                .withACL(List.of(new ACL(Perms.CREATE, Ids.ANYONE_ID_UNSAFE)))
                .forPath("/unreadable");
        CuratorFramework client = store.client("", store.address() + "/unreadable", Store.SESSION);
        LockClient locks = LockClient.create(ZooKeeperLockBackend.over(client));
        Waiting.forMono(Waiting.forMono(locks.lock("mine").acquire()).release());
        long session = client.getZookeeperClient().getZooKeeper().getSessionId();
        Waiting.until("the session is watched", () -> store.server().isWatchedBy(session));
        Waiting.forMono(locks.close());
    }

    @Test
    void openAccessRightsAreWarnedAboutOnce() throws Exception {
        Logger logger = (Logger) LoggerFactory.getLogger(ZooKeeperLockBackend.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        try (CuratorFramework open = store.client("");
                CuratorFramework mine = digest("app:secret", new CreatorsOnly())) {
            use(mine, "/closed");
            assertThat(warnings(lines)).isEmpty();
            use(open, "/open");
            assertThat(warnings(lines)).hasSize(1).allMatch(it -> it.contains("can change the nodes of locks"));
        } finally {
            logger.detachAppender(lines);
        }
    }

    private static void use(CuratorFramework client, String root) {
        LockClient locks = LockClient.create(
                ZooKeeperLockBackend.builder(client).root(root).build());
        for (String name : List.of("one", "two")) {
            Waiting.forMono(Waiting.forMono(locks.lock(name).acquire()).release());
        }
        Waiting.forMono(locks.close());
    }

    private static List<String> warnings(ListAppender<ILoggingEvent> lines) {
        return lines.list.stream()
                .filter(it -> it.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }
}
