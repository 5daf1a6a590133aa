package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What names leave behind that are used once, and how fast the server removes it. */
class ZooKeeperContainersIT {

    private static final String MUTEXES = "/once/holdfast/mutex";

    private static final int NAMES_A_SECOND = 1_000;

    /** The settings that the page gives for so many names. */
    private static final int MOST_A_MINUTE = 100_000;

    private static final Duration INTERVAL = Duration.ofSeconds(10);

    private static final int DEFAULT_A_MINUTE = 10_000;

    private static Store store;
    private static LockClient locks;

    @BeforeAll
    static void start() {
        store = Store.start();
        locks = LockClient.create(
                ZooKeeperLockBackend.over(store.client("once", store.address(), Duration.ofSeconds(30))));
    }

    @AfterAll
    static void stop() {
        Waiting.forMono(locks.close());
        store.close();
    }

    private static void use(String name, int names) {
        long served = Waiting.forMono(Flux.range(0, names)
                .flatMap(
                        i -> locks.lock(name + i)
                                .acquire()
                                .flatMap(LockLease::release)
                                .thenReturn(i),
                        64)
                .count());
        assertThat(served).isEqualTo(names);
        assertThat(store.server().nodesIn(MUTEXES)).as("containers left").isEqualTo(names);
    }

    private static Duration sweep(int maxPerMinute) {
        long begin = System.nanoTime();
        store.server().removeEmptyContainers(maxPerMinute);
        Waiting.until("no container is left", () -> store.server().nodesIn(MUTEXES) == 0);
        return Duration.ofNanos(System.nanoTime() - begin);
    }

    private static void removeContainers() {
        assertThat(sweep(MOST_A_MINUTE)).isPositive();
    }

    /** One of them creates the queue, with its node. The other one's node comes next. */
    @Test
    void clientsThatCreateTheSameQueueAtOnceHoldItOneAfterTheOther() {
        CuratorFramework curator = store.client("once", store.address(), Duration.ofSeconds(30));
        LockClient others = LockClient.create(ZooKeeperLockBackend.over(curator));
        for (int i = 0; i < 50; i++) {
            String name = "raced" + i;
            AtomicInteger holders = new AtomicInteger();
            List<Long> tokens = new CopyOnWriteArrayList<>();
            Waiting.forMono(Flux.just(locks, others, locks, others)
                    .flatMap(client -> client.lock(name).withLock(lease -> {
                        assertThat(holders.incrementAndGet()).isOne();
                        return Mono.fromRunnable(() -> {
                            tokens.add(lease.fencingToken());
                            assertThat(holders.decrementAndGet()).isZero();
                        });
                    }))
                    .then());
            assertThat(tokens).hasSize(4).doesNotHaveDuplicates().isSorted();
        }
        Waiting.forMono(others.close());
        curator.close();
        removeContainers();
    }

    @Test
    void queueThatTheServerHasRemovedIsCreatedAgain() {
        long before = Waiting.forMono(locks.lock("again").withLock(lease -> Mono.just(lease.fencingToken())));
        removeContainers();
        long after = Waiting.forMono(locks.lock("again").withLock(lease -> Mono.just(lease.fencingToken())));
        assertThat(after).isGreaterThan(before);
        removeContainers();
    }

    @Test
    void sweepWithTheSettingsOfThePageIsFasterThanAThousandNewNamesASecond() {
        use("fast", 3 * NAMES_A_SECOND);
        Duration took = sweep(MOST_A_MINUTE);
        System.out.printf("3000 empty containers are removed in %d ms%n", took.toMillis());
        assertThat(took).isLessThan(Duration.ofSeconds(3));
    }

    @Test
    void sweepOfTheDefaultsTakesSixMillisecondsForEachName() {
        use("slow", 200);
        assertThat(sweep(DEFAULT_A_MINUTE)).isGreaterThan(Duration.ofMillis(200L * 60_000 / DEFAULT_A_MINUTE));
    }

    /** An hour of new names, second by second: as many are left as the page says, and with the defaults they pile up. */
    @Test
    void namesLeftAfterAnHourHaveTheBoundOfThePage() {
        assertThat(mostLeft(NAMES_A_SECOND, INTERVAL, MOST_A_MINUTE))
                .isLessThanOrEqualTo((int) (NAMES_A_SECOND * INTERVAL.toSeconds()));
        assertThat(mostLeft(DEFAULT_A_MINUTE / 60, Duration.ofMinutes(1), DEFAULT_A_MINUTE))
                .isLessThanOrEqualTo(DEFAULT_A_MINUTE);
        assertThat(mostLeft(NAMES_A_SECOND, Duration.ofMinutes(1), DEFAULT_A_MINUTE))
                .as("with the defaults")
                .isGreaterThan(2_900_000);
    }

    /** The server begins a sweep at each interval, or when the one before has ended. A sweep removes what was there when it began. */
    private static int mostLeft(int namesASecond, Duration interval, int removedAMinute) {
        int left = 0;
        int most = 0;
        double toRemove = 0;
        for (int second = 1; second <= 3_600; second++) {
            left += namesASecond;
            most = Math.max(most, left);
            if (toRemove <= 0 && second % interval.toSeconds() == 0) {
                toRemove = left;
            }
            int removed = (int) Math.min(toRemove, removedAMinute / 60.0);
            left -= removed;
            toRemove = removed == 0 ? 0 : toRemove - removed;
        }
        return most;
    }
}
