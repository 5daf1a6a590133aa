package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockReport;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A later version of the library has its node in a queue. This version does not know by which rules that node holds. */
class ZooKeeperNewerFormIT {

    private static final String ADVICE = "a newer version of this library has written the lock: upgrade this client";

    private static Store store;
    private static CuratorFramework curator;

    private final String name = UUID.randomUUID().toString();
    private final ZooKeeperLockBackend.Builder builder = ZooKeeperLockBackend.builder(curator);
    private final ZooKeeperLockBackend backend = builder.build();

    @BeforeAll
    static void start() {
        store = Store.start();
        curator = store.client("");
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @AfterEach
    void close() {
        Store.end(backend);
    }

    private record Case(LockKind kind, io.holdfast.spi.Waiting waiting) {}

    private static Stream<Case> everyAttempt() {
        return Stream.of(LockKind.values())
                .flatMap(kind -> Stream.of(io.holdfast.spi.Waiting.values()).map(waiting -> new Case(kind, waiting)));
    }

    private LockKey key(LockKind kind) {
        return kind == LockKind.SEMAPHORE ? new LockKey(kind, name, 3) : LockKey.of(kind, name);
    }

    private String queue(LockKind kind) {
        String folder = switch (kind) {
            case MUTEX -> "mutex";
            case READ, WRITE -> "rw";
            case SEMAPHORE -> "semaphore";
        };
        return "/holdfast/" + folder + '/' + name;
    }

    /** Returns the path of the node. */
    private String newer(LockKind kind) throws Exception {
        return store.eye()
                .create()
                .creatingParentContainersIfNeeded()
                .withMode(CreateMode.PERSISTENT_SEQUENTIAL)
                .forPath(queue(kind) + "/f00d_2m1_a0_", new byte[] {'?'});
    }

    private List<String> nodes(LockKind kind) throws Exception {
        return store.eye().getChildren().forPath(queue(kind));
    }

    private static void assertRefused(Mono<?> request) {
        assertThatThrownBy(() -> Waiting.forMono(request))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        failed -> assertThat(failed.isTransient()).isFalse())
                .hasMessageContaining(ADVICE);
    }

    @ParameterizedTest
    @MethodSource("everyAttempt")
    void noAttemptPassesANodeOfANewerFormUntilItIsDeleted(Case attempt) throws Exception {
        LockKind kind = attempt.kind();
        LockClaim claim =
                LockClaim.first(key(kind), UUID.randomUUID().toString(), Duration.ofSeconds(10), attempt.waiting());
        String newer = newer(kind);

        assertRefused(backend.tryAcquire(claim));

        assertThat(nodes(kind)).containsExactly(newer.substring(newer.lastIndexOf('/') + 1));
        assertThat(store.eye().getData().forPath(newer)).containsExactly('?');
        assertThat(Waiting.forMono(backend.release(claim))).isEqualTo(Ownership.NOT_HELD);

        store.delete(newer);
        LockClaim next =
                LockClaim.first(key(kind), UUID.randomUUID().toString(), Duration.ofSeconds(10), attempt.waiting());
        assertThat(Waiting.forMono(backend.tryAcquire(next))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Waiting.forMono(backend.release(next))).isEqualTo(Ownership.HELD);
    }

    /** A claim that enters behind claims of its own session needs no list, until it comes to the front. */
    @Test
    void aWaiterThatComesToTheFrontDoesNotPassANodeOfANewerForm() throws Exception {
        LockClient locks = LockClient.create(backend);
        LockLease holder = Waiting.forMono(locks.lock(name).acquire());
        String newer = newer(LockKind.MUTEX);
        CompletableFuture<LockLease> first = locks.lock(name).acquire().toFuture();
        CompletableFuture<LockLease> second = locks.lock(name).acquire().toFuture();
        Waiting.until("both wait", () -> store.claims("/holdfast").size() == 4);

        Waiting.forMono(holder.release().thenReturn(true));

        assertRefused(Mono.fromFuture(first));
        assertRefused(Mono.fromFuture(second));
        assertThat(nodes(LockKind.MUTEX)).containsExactly(newer.substring(newer.lastIndexOf('/') + 1));
        store.delete(newer);
    }

    @Test
    void aHolderKeepsTheLockWhenANodeOfANewerFormComes() throws Exception {
        LockClient locks = LockClient.create(backend);
        LockLease holder = Waiting.forMono(locks.lock(name).acquire());
        String newer = newer(LockKind.MUTEX);

        Waiting.forMono(holder.renew().thenReturn(true));
        assertThat(holder.isValid()).isTrue();
        Waiting.forMono(holder.release().thenReturn(true));
        store.delete(newer);
    }

    @Test
    void inspectorNamesANodeOfANewerFormAndBreaksNothing() throws Exception {
        String newer = newer(LockKind.MUTEX);
        LockInspector inspector = builder.inspector();
        LockHolder holder = new LockHolder("f00d", LockKind.MUTEX, 1, 1, Optional.empty(), Optional.empty(), Map.of());

        List<LockReport> reports = Waiting.forMono(
                Flux.merge(inspector.inspect(name), inspector.all()).collectList());

        assertThat(reports).hasSize(2).allSatisfy(report -> {
            assertThat(report.name()).isEqualTo(name);
            assertThat(report.warnings()).singleElement().asString().contains(ADVICE);
        });
        assertRefused(backend.holders(key(LockKind.MUTEX)).collectList());
        assertRefused(inspector.breakHold(name, holder));
        assertThat(store.eye().checkExists().forPath(newer)).isNotNull();
        store.delete(newer);
        Waiting.forMono(inspector.close().thenReturn(true));
    }
}
