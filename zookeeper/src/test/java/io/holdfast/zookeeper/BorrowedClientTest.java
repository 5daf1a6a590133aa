package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.zookeeper.internal.client.Servers;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.listen.Listenable;
import org.apache.curator.framework.listen.StandardListenerManager;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.junit.jupiter.api.Test;

/** The owner of the client may replace it, or its class path may lack a class. */
class BorrowedClientTest {

    /** A client without a session that records its listeners. */
    private static final class Client {

        private final StandardListenerManager<ConnectionStateListener> listeners = StandardListenerManager.standard();
        private final CuratorFramework framework = (CuratorFramework) Proxy.newProxyInstance(
                CuratorFramework.class.getClassLoader(),
                new Class<?>[] {CuratorFramework.class},
                (self, method, arguments) -> switch (method.getName()) {
                    case "getConnectionStateListenable" -> (Listenable<ConnectionStateListener>) listeners;
                    case "getCuratorListenable" -> throw new UnsupportedOperationException("a view");
                    case "equals" -> self == arguments[0];
                    case "hashCode" -> System.identityHashCode(self);
                    default -> throw new IllegalStateException("not started");
                });

        int listenerCount() {
            return listeners.size();
        }
    }

    @Test
    void aReplacedClientHasNoListenersAnyMore() {
        Client first = new Client();
        Client second = new Client();
        Queue<CuratorFramework> clients = new ArrayDeque<>(List.of(first.framework, second.framework));
        LockClient locks =
                LockClient.create(ZooKeeperLockBackend.builder(clients::remove).build());
        List<Integer> whileSearched = new ArrayList<>();
        for (int search = 0; search < 2; search++) {
            assertThatThrownBy(() -> Waiting.forMono(locks.lock("moved").tryAcquire()))
                    .hasMessageContaining("the Curator client is not running");
            whileSearched.add(first.listenerCount() * 10 + second.listenerCount());
        }

        assertThat(whileSearched).containsExactly(10, 1);
        Waiting.forMono(locks.close());
        assertThat(second.listenerCount()).isZero();
    }

    @Test
    void aMissingClassIsNoTransientFailure() {
        LockClient locks = LockClient.create(ZooKeeperLockBackend.builder(() -> {
                    throw new NoClassDefFoundError("io/netty/channel/epoll/Epoll");
                })
                .build());

        assertThatThrownBy(() -> Waiting.forMono(locks.lock("incomplete").acquire()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        e -> assertThat(e.isTransient()).isFalse())
                .hasMessageContaining("the class path is incomplete")
                .hasMessageContaining("io/netty/channel/epoll/Epoll");
        Waiting.forMono(locks.close());
    }

    /** ZooKeeper creates its connection by reflection. */
    @Test
    void aMissingClassIsFoundBehindAnotherError() {
        IOException wrapped = new IOException("Couldn't instantiate", new NoClassDefFoundError("Epoll"));
        ZooKeeperFailures.Subject subject = new ZooKeeperFailures.Subject("", "opening a session");

        assertThat(ZooKeeperFailures.notOpened(subject, Servers.UNKNOWN, wrapped)
                        .isTransient())
                .isFalse();
        assertThat(ZooKeeperFailures.notOpened(subject, Servers.UNKNOWN, new IOException("later"))
                        .isTransient())
                .isTrue();
    }
}
