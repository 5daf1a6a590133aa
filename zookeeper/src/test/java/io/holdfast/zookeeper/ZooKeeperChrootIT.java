package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockInspector;
import io.holdfast.LockLease;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A connect string may end with a path: the chroot, under which the client sees everything. ZooKeeper does not create it. */
class ZooKeeperChrootIT {

    private static final Duration LONG = Duration.ofMinutes(1);

    private static Store store;

    @BeforeAll
    static void start() {
        store = Store.start();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    private static CuratorFramework under(String chroot, String namespace) {
        return store.client(namespace, store.address() + chroot, Store.SESSION);
    }

    private static Stream<Map.Entry<String, Mono<?>>> requests() {
        ZooKeeperLockBackend.Builder builder = ZooKeeperLockBackend.builder(under("/teams/missing", "app"));
        LockClient locks = LockClient.create(builder.build());
        LockInspector inspector = builder.inspector();
        return Stream.of(
                Map.entry("ping", locks.ping()),
                Map.entry("tryAcquire", locks.lock("a").tryAcquire()),
                Map.entry("acquire", locks.lock("a").acquire()),
                Map.entry("acquire of a semaphore", locks.semaphore("a", 2).acquire()),
                Map.entry("holders", Flux.from(inspector.inspect("a")).next()),
                Map.entry("all", inspector.all().next()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("requests")
    void missingChrootIsAPermanentErrorThatNamesIt(Map.Entry<String, Mono<?>> request) {
        assertThatThrownBy(() -> Waiting.forMono(request.getValue()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        failed -> assertThat(failed.isTransient()).isFalse())
                .hasMessageContaining("the chroot /teams/missing of the connect string does not exist")
                .hasMessageContaining("create it");
    }

    @Test
    void locksWorkAsSoonAsTheChrootIsThere() throws Exception {
        LockClient locks = LockClient.create(ZooKeeperLockBackend.over(under("/late", "")));
        assertThatThrownBy(() -> Waiting.forMono(locks.ping())).isInstanceOf(LockBackendException.class);

        String unused = store.eye().create().forPath("/late");

        Waiting.forMono(locks.ping().timeout(LONG).thenReturn(true));
        LockLease lease = Waiting.forMono(locks.lock("a").acquire());
        assertThat(store.claims("/late/holdfast")).hasSize(1);
        Waiting.forMono(lease.release());
        Waiting.forMono(locks.close());
    }
}
