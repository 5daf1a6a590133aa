package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.testkit.server.TcpProxy.Direction;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The messages from the leader to a follower stop, its pings too. All other messages arrive: the follower answers reads, and a majority
 * agrees on the writes that it forwards. But the leader receives no sign of life of the follower's sessions.
 */
class ZooKeeperOneWayIT {

    private static final Duration SESSION = Duration.ofSeconds(3);
    private static final String QUEUE = "/holdfast/mutex/one-way";

    private static WiredEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                WiredEnsemble.start(Map.of("syncLimit", "20")); // otherwise the follower would give up its leader first
        ensemble.findTheLeader();
    }

    @AfterAll
    static void stop() throws IOException {
        ensemble.close();
    }

    @Test
    void lateAnswerOfATransactionDoesNotProveAnEndedSession() {
        try (CuratorFramework oneWay = Store.connect("f", ensemble.atTheFollower(), SESSION);
                CuratorFramework near = Store.connect("f", ensemble.atTheThird(), SESSION)) {
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(oneWay));
            LockClient rivals = LockClient.create(ZooKeeperLockBackend.over(near));
            Waiting.forMono(Waiting.forMono(rivals.lock("one-way").acquire()).release());
            Waiting.forMono(Waiting.forMono(locks.lock("one-way").acquire()).release());
            Waiting.pass(SESSION);

            ensemble.wireToTheLeader().delay(Direction.TO_CLIENT, Duration.ofMinutes(1));
            Waiting.pass(SESSION.multipliedBy(8).dividedBy(10));
            CompletableFuture<LockLease> held = locks.lock("one-way").acquire().toFuture();
            Waiting.until(
                    "the node exists, or the client has noticed the loss",
                    () -> places(near) == 1 || !isConnected(oneWay));
            CompletableFuture<LockLease> rival =
                    rivals.lock("one-way").acquire().toFuture();
            Waiting.until(
                    "the leader has ended the session, or the client has noticed the loss",
                    () -> rival.isDone() || !isConnected(oneWay));
            ensemble.wireToTheLeader().pass();
            Waiting.until(
                    "one client holds, and the other one waits or holds, too",
                    () -> (held.isDone() || rival.isDone()) && (held.isDone() == rival.isDone() || places(near) == 2));
            assertThat(held.isDone() && rival.isDone()).as("both hold").isFalse();
            CompletableFuture<LockLease> first = held.isDone() ? held : rival;
            CompletableFuture<LockLease> second = held.isDone() ? rival : held;
            Waiting.forMono(first.join().release());
            assertThat(second).succeedsWithin(Waiting.PATIENCE);
            assertThat(second.join().fencingToken()).isGreaterThan(first.join().fencingToken());
            Waiting.forMono(second.join().release());
            Waiting.forMono(rivals.close());
            Waiting.forMono(locks.close());
        } finally {
            ensemble.wireToTheLeader().pass();
        }
    }

    private static boolean isConnected(CuratorFramework client) {
        return client.getZookeeperClient().isConnected();
    }

    private static int places(CuratorFramework client) {
        try {
            List<String> names = client.getChildren().forPath(QUEUE);
            return names.size();
        } catch (KeeperException.NoNodeException reaped) {
            return 0; // an empty container does not stay
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
