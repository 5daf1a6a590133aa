package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.LeftoversExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What waiters cost a real server while no lock is released, and what wakes them. */
class ZooKeeperWaitersIT {

    private static final String ROOT = "/waiters/holdfast";
    private static final int WAITERS = 60;
    private static final int CYCLES = 100;
    private static final int FLOOD = 1_000;

    /** As long as a test may take, and much longer than the lease duration of the waiters. */
    private static final Duration QUIET = Duration.ofSeconds(3);

    private static final LockOptions SHORT_LEASES =
            LockOptions.builder().leaseDuration(Duration.ofSeconds(1)).build();

    private static final LockOptions UNRENEWED = LockOptions.builder()
            .leaseDuration(Duration.ofMinutes(1))
            .autoRenew(false)
            .build();

    private static Store store;
    private static CuratorFramework curator;

    private final ZooKeeperLockBackend backend = ZooKeeperLockBackend.over(curator);
    private final LockClient locks = LockClient.create(backend);

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("tree", () -> store.claims(ROOT));

    @BeforeAll
    static void start() {
        store = Store.start();
        curator = store.client("waiters", store.address(), Duration.ofSeconds(60));
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @AfterEach
    void close() {
        Waiting.forMono(locks.close());
    }

    @Test
    void waitersForPermitsWriteNothingWhileTheyWait() {
        LockLease holder =
                Waiting.forMono(locks.semaphore("quiet", 1).with(UNRENEWED).acquire());
        Disposable waiting = wait(locks.semaphore("quiet", 1).with(SHORT_LEASES));
        long zxid = zxid();
        Waiting.pass(QUIET);
        assertThat(zxid() - zxid).as("transactions").isZero();
        waiting.dispose();
        Waiting.forMono(holder.release());
    }

    @Test
    void shortLeasesDoNotMakeWaitersPoll() {
        LockLease holder = Waiting.forMono(locks.lock("polled").with(UNRENEWED).acquire());
        LockLease permit =
                Waiting.forMono(locks.semaphore("polled", 1).with(UNRENEWED).acquire());
        Disposable first = wait(locks.lock("polled").with(SHORT_LEASES));
        Disposable second = wait(locks.semaphore("polled", 1).with(SHORT_LEASES));
        long packets = packets();
        Waiting.pass(QUIET);
        // Pings and heartbeats of two sessions.
        assertThat(packets() - packets).as("requests").isLessThan(10);
        first.dispose();
        second.dispose();
        Waiting.forMono(holder.release());
        Waiting.forMono(permit.release());
    }

    @Test
    void cycleOfAPermitIsTwoRequests() {
        ReactiveLock semaphore = locks.semaphore("cycled", 2);
        Mono<Void> cycle = semaphore.acquire().flatMap(LockLease::release).then();
        Waiting.forMono(cycle.repeat(2).then());
        long packets = packets();
        Waiting.forMono(cycle.repeat(CYCLES - 1).then());
        // The rest are pings and heartbeats.
        assertThat(packets() - packets).as("requests").isBetween(2L * CYCLES, 2L * CYCLES + 20);
    }

    /** The server answers one session in order, so a renewal waits for all earlier requests of the same client. */
    @Test
    void thousandsOfNewClaimsDoNotDelayTheRenewalsOfTheirClient() {
        LockLease holder = Waiting.forMono(locks.lock("flooded").acquire());
        Disposable waiting = Flux.range(0, FLOOD)
                .flatMap(i -> locks.lock("flooded").acquire(), Integer.MAX_VALUE)
                .subscribe(lease -> {}, error -> {});
        // Usually 100 requests: creations, lists, and reads of the nodes in front. Without the limit, they would be
        // 1,000.
        assertThat(answersBeforeAnother(FLOOD + 1)).isLessThanOrEqualTo(400);
        assertThat(holder.isValid()).isTrue();
        waiting.dispose();
        Waiting.forMono(holder.release());
    }

    /**
     * Counts the answers that the server sent while the back end waited for its own one. It returns the median, since this thread may be
     * late.
     */
    private long answersBeforeAnother(int places) {
        List<Long> answers = new ArrayList<>();
        Waiting.until("all claims are queued", () -> {
            long sent = store.server().inside().serverStats().getPacketsSent();
            Waiting.forMono(backend.ping());
            answers.add(store.server().inside().serverStats().getPacketsSent() - sent);
            return store.server().nodesIn(ROOT + "/mutex/flooded") >= places;
        });
        System.out.printf("answers that came before another one: %s%n", answers);
        return answers.stream().sorted().skip(answers.size() / 2).findFirst().orElseThrow();
    }

    /** Waits until all claims are queued, and have read the nodes that they wait for. */
    private static Disposable wait(ReactiveLock lock) {
        int before = store.claims(ROOT).size();
        int watches = store.server().watches();
        Disposable waiting = Flux.range(0, WAITERS)
                .flatMap(i -> lock.acquire(), Integer.MAX_VALUE)
                .subscribe(lease -> {}, error -> {});
        Waiting.until("all claims are queued", () -> store.claims(ROOT).size() == before + WAITERS);
        Waiting.until("all claims are watched", () -> store.server().watches() >= watches + WAITERS);
        Waiting.until("only pings are sent", () -> {
            long sent = packets();
            Waiting.pass(Duration.ofMillis(300));
            return packets() - sent <= 3;
        });
        return waiting;
    }

    private static long zxid() {
        return store.server().inside().getZKDatabase().getDataTreeLastProcessedZxid();
    }

    private static long packets() {
        return store.server().inside().serverStats().getPacketsReceived();
    }
}
