package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockQueueFullException;
import io.holdfast.ReactiveLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A claim that the limit of the driver refuses costs no more requests than one that is served. The contract has the other ways out. */
class ZooKeeperWaysOutIT {

    private static final int TIMES = 50;

    /** Requests of the sessions themselves, in all rounds of a test together. */
    private static final int NOW_AND_THEN = 12;

    private static final Duration SESSION = Duration.ofSeconds(40);

    /** Names of 80 bytes fit that often. */
    private static final int BUFFER = 1_700;

    private static final int PLACES_OF_THE_BUFFER = (BUFFER - 64) / 80;

    private static Store store;

    private LockClient mine;
    private LockClient rivals;

    private enum Kind {
        MUTEX("mutex"),
        WRITER("rw"),
        PERMIT("semaphore");

        private final String folder;

        Kind(String folder) {
            this.folder = folder;
        }

        ReactiveLock of(LockClient locks) {
            return switch (this) {
                case MUTEX -> locks.lock("a");
                case WRITER -> locks.readWriteLock("a").writeLock();
                case PERMIT -> locks.semaphore("a", 1);
            };
        }

        /** How many claims there are, counted without a request. */
        int claims() {
            return store.server().nodesIn("/ways/holdfast/" + folder + "/a");
        }
    }

    @BeforeAll
    static void startServer() {
        store = Store.start();
    }

    @AfterAll
    static void stopServer() {
        store.close();
    }

    @BeforeEach
    void start() {
        mine = LockClient.create(ZooKeeperLockBackend.over(store.client("ways", store.address(), SESSION)));
        rivals = LockClient.create(ZooKeeperLockBackend.over(store.client("ways", store.address(), SESSION)));
    }

    @AfterEach
    void close() {
        Waiting.forMono(mine.close());
        Waiting.forMono(rivals.close());
    }

    private static long packets() {
        return store.server().inside().serverStats().getPacketsReceived();
    }

    private static void claimsAre(Kind kind, int count) {
        Waiting.until(kind + " has " + count + " claims", () -> kind.claims() == count);
    }

    /** The requests for one claim that waits, is served, and releases; with the release of the claim in front. */
    private long served(Kind kind) {
        long spent = 0;
        for (int i = 0; i < TIMES; i++) {
            LockLease held = Waiting.forMono(kind.of(rivals).acquire());
            long before = packets();
            CompletableFuture<LockLease> waiter = kind.of(mine).acquire().toFuture();
            claimsAre(kind, 2);
            Waiting.forMono(held.release());
            Waiting.forMono(Mono.fromFuture(waiter).flatMap(LockLease::release));
            spent += packets() - before;
            claimsAre(kind, 0);
        }
        return spent;
    }

    private static void report(Kind kind, long spent, long served) {
        System.out.printf(
                "%s: refusal %.1f requests, served %.1f%n", kind, (double) spent / TIMES, (double) served / TIMES);
        assertThat(spent).as("%d refusals of %s", TIMES, kind).isLessThanOrEqualTo(served + NOW_AND_THEN);
    }

    @ParameterizedTest
    @EnumSource
    void refusalByTheBufferOfTheDriverCostsNoMoreThanBeingServed(Kind kind) throws Exception {
        long served = served(kind);
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKConfig.JUTE_MAXBUFFER, Integer.toString(BUFFER));
        try (CuratorFramework small = CuratorFrameworkFactory.builder()
                .connectString(store.address())
                .namespace("ways")
                .sessionTimeoutMs((int) SESSION.toMillis())
                .ensembleTracker(false)
                .zkClientConfig(config)
                .retryPolicy(new RetryOneTime(100))
                .build()) {
            small.start();
            small.blockUntilConnected();
            refuse(kind, LockClient.create(ZooKeeperLockBackend.over(small)), PLACES_OF_THE_BUFFER, served);
        }
    }

    private void refuse(Kind kind, LockClient limited, int places, long served) {
        LockLease held = Waiting.forMono(kind.of(rivals).acquire());
        List<Disposable> waiting = new ArrayList<>();
        for (int i = 1; i < places; i++) {
            waiting.add(kind.of(rivals).acquire().subscribe());
        }
        claimsAre(kind, places);
        long before = packets();
        for (int i = 0; i < TIMES; i++) {
            assertThatThrownBy(() -> Waiting.forMono(kind.of(limited).acquire()))
                    .isInstanceOf(LockQueueFullException.class);
        }
        report(kind, packets() - before, served);
        assertThat(kind.claims()).isEqualTo(places);
        waiting.forEach(Disposable::dispose);
        claimsAre(kind, 1);
        Waiting.forMono(held.release());
        Waiting.forMono(limited.close());
    }
}
