package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockReport;
import io.holdfast.spi.LockAttempt;
import io.holdfast.testkit.server.RedisCluster;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** The inspector on a cluster: each lock is at one of several masters. */
class RedisClusterInspectorIT {

    private static RedisCluster cluster;
    private static List<Store> stores;
    private RedisLockBackend backend;
    private RedisLockInspector inspector;

    @BeforeAll
    static void startCluster() {
        cluster = RedisCluster.start();
        stores = cluster.masters().stream().map(Store::observing).toList();
    }

    @AfterAll
    static void stopCluster() {
        stores.forEach(Store::stopObserving);
        cluster.close();
    }

    @BeforeEach
    void start() {
        stores.forEach(store -> assertThat(store.redis().flushall()).isEqualTo("OK"));
        List<RedisURI> seeds = List.of(RedisURI.create(cluster.masters().get(0).uri()));
        backend = RedisLockBackend.cluster(seeds);
        inspector = RedisLockBackend.clusterBuilder(seeds).inspector();
    }

    @AfterEach
    void stop() {
        Store.answer(inspector.close());
        Store.end(backend);
    }

    @Test
    void locksOfAllMastersAreScannedAndEachIsReportedOnce() {
        List<String> names =
                IntStream.range(0, 2_000).mapToObj(n -> "cart/" + n).toList();
        acquire(names);
        stores.forEach(store -> store.redis().configResetstat());

        List<String> walked = Store.answer(inspector.all().map(LockReport::name).collectList());

        long scans = stores.stream().mapToLong(store -> store.calls("scan")).sum();
        long calls = stores.stream().mapToLong(store -> store.calls("evalsha")).sum();
        System.out.printf(
                "[holdfast] %,d locks of a cluster walked with %d SCAN and %d script calls%n",
                names.size(), scans, calls);
        assertThat(walked).containsExactlyInAnyOrderElementsOf(names);
        assertThat(scans).isLessThan(names.size() / 20);
        assertThat(calls).as("at most one for each lock").isLessThanOrEqualTo(names.size() + stores.size());
    }

    @Test
    void aNameIsReadFromItsMaster() {
        for (int n = 0; n < 20; n++) {
            String name = "orders/" + n;
            acquire(List.of(name));
            assertThat(Store.answer(inspector.inspect(name).single()).isHeld()).isTrue();
        }
    }

    @Test
    void theNextMasterIsScannedWhenMoreLocksAreRequested() {
        acquire(IntStream.range(0, 60).mapToObj(n -> "cart/" + n).toList());
        assertThat(Store.answer(inspector.inspect("warm-up").count())).isZero();
        stores.forEach(store -> store.redis().configResetstat());

        StepVerifier.create(inspector.all(), 0)
                .thenRequest(1)
                .expectNextCount(1)
                .then(() -> assertThat(stores.stream()
                                .mapToLong(store -> store.calls("scan"))
                                .sum())
                        .isOne())
                .thenCancel()
                .verify(Duration.ofSeconds(10));
    }

    @Test
    void everyMasterReportsOnItself() {
        stores.get(1).redis().configSet("maxmemory-policy", "volatile-ttl");

        List<ServerReport> reports = Store.answer(inspector.servers().collectList());

        assertThat(reports).hasSize(3).extracting(ServerReport::server).doesNotHaveDuplicates();
        assertThat(reports)
                .filteredOn(report -> !report.warnings().isEmpty())
                .singleElement()
                .satisfies(it -> assertThat(it.server())
                        .endsWith(":" + cluster.masters().get(1).port()));
        stores.get(1).redis().configSet("maxmemory-policy", "noeviction");
    }

    private void acquire(List<String> names) {
        assertThat(Store.answer(Flux.fromIterable(names)
                        .flatMap(name -> backend.tryAcquire(Store.claim(name)), 128)
                        .filter(LockAttempt.Acquired.class::isInstance)
                        .count()))
                .isEqualTo(names.size());
    }
}
