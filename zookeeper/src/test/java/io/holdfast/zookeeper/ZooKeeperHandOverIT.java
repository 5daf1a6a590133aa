package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.testkit.LeftoversExtension;
import io.holdfast.zookeeper.internal.operation.RecheckInterval;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** How a lock passes from one claim to the next, and how many requests that needs. */
class ZooKeeperHandOverIT {

    private static final String ROOT = "/hand/holdfast";

    private static final int WAITERS = 50;

    private static Store store;
    private static CuratorFramework curator;
    private static CuratorFramework otherCurator;

    private final LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));
    private final LockClient others = LockClient.create(ZooKeeperLockBackend.over(otherCurator));

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("tree", () -> store.claims(ROOT));

    @BeforeAll
    static void start() throws Exception {
        store = Store.start();
        store.eye().create().forPath("/hand");
        curator = store.client("hand", store.address(), Duration.ofSeconds(20));
        otherCurator = store.client("hand", store.address(), Duration.ofSeconds(20));
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @AfterEach
    void close() {
        Waiting.forMono(locks.close());
        Waiting.forMono(others.close());
    }

    private static Mono<Void> cycles(LockClient client, String name, Queue<Long> tokens, int each) {
        ReactiveLock lock = client.lock(name);
        return Flux.range(0, WAITERS)
                .flatMap(
                        i -> lock.withLock(lease -> Mono.<Void>fromRunnable(() -> tokens.add(lease.fencingToken())))
                                .repeat(each - 1L)
                                .then(),
                        WAITERS)
                .then();
    }

    private static long packets() {
        return store.server().inside().serverStats().getPacketsReceived();
    }

    private static long written() {
        return store.server().inside().getZKDatabase().getDataTreeLastProcessedZxid();
    }

    /**
     * A hand-off needs one creation and one deletion, but no list, no watch and no check: the session knows enough of the queue. Deletions
     * that come together are one request.
     */
    @Test
    void handOffWithinOneClientIsAtMostTwoRequests() {
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        Waiting.forMono(cycles(locks, "one", tokens, 2));
        long requestsBefore = packets();
        long writtenBefore = written();
        long start = System.nanoTime();
        Waiting.forMono(cycles(locks, "one", tokens, 10));
        int count = 10 * WAITERS;
        long requests = packets() - requestsBefore;
        // Few other requests come: watches of claims that wait for a second, pings, and heartbeats. A very slow machine
        // has more.
        long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
        System.out.printf("%d hand-offs in one client: %d requests%n", count, requests);
        assertThat(requests).isBetween((long) count, 2L * count + count / 5 + WAITERS * seconds);
        assertThat(written() - writtenBefore).isBetween((long) count, 2L * count + count / 10);
        assertThat(List.copyOf(tokens)).hasSize(12 * WAITERS).isSorted();
    }

    @Test
    void handOffsBetweenClientsKeepTheOrder() {
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        long requestsBefore = packets();
        Waiting.forMono(Mono.when(cycles(locks, "both", tokens, 6), cycles(others, "both", tokens, 6)));
        System.out.printf("%d hand-offs in two clients: %d requests%n", tokens.size(), packets() - requestsBefore);
        assertThat(List.copyOf(tokens)).hasSize(12 * WAITERS).isSorted();
    }

    /** The order of arrival is kept, although each holder releases before the server has answered the release before. */
    @Test
    void claimsOfOneClientGetTheLockInTheOrderOfTheirNodes() {
        LockLease first = Waiting.forMono(locks.lock("order").acquire());
        Queue<Integer> order = new ConcurrentLinkedQueue<>();
        List<CompletableFuture<Void>> waiting = IntStream.range(0, 20)
                .mapToObj(i -> {
                    CompletableFuture<Void> done = locks.lock("order")
                            .withLock(lease -> Mono.<Void>fromRunnable(() -> order.add(i)))
                            .toFuture();
                    Waiting.until("the claim waits", () -> store.claims(ROOT).size() == i + 2);
                    return done;
                })
                .toList();
        Waiting.forMono(first.release());
        waiting.forEach(it -> assertThat(it).succeedsWithin(Waiting.PATIENCE));
        assertThat(order)
                .containsExactlyElementsOf(IntStream.range(0, 20).boxed().toList());
    }

    /**
     * The server removes empty queues, and then the numbers start again. The number after our last node then proves nothing: our new node
     * came after the node of another client.
     */
    @Test
    void queueThatAnotherClientCreatedAgainHasNoTwoHolders() throws Exception {
        for (int i = 0; i < 3; i++) {
            Waiting.forMono(Waiting.forMono(locks.lock("reaped").acquire()).release()); // numbers 0 to 2
        }
        Waiting.until("the queue is empty", () -> store.claims(ROOT).isEmpty());
        store.eye().delete().forPath(ROOT + "/mutex/reaped");
        for (int i = 0; i < 2; i++) {
            Waiting.forMono(Waiting.forMono(others.lock("reaped").acquire()).release()); // 0 and 1
        }
        LockLease held = Waiting.forMono(others.lock("reaped").acquire()); // 2
        ReactiveLock impatient = locks.lock("reaped")
                .with(LockOptions.builder().waitTimeout(Duration.ofMillis(300)).build());
        assertThatThrownBy(() -> Waiting.forMono(impatient.acquire())).isInstanceOf(LockTimeoutException.class); // 3
        assertThat(held.isValid()).isTrue();
        Waiting.forMono(held.release());
    }

    /** If a program deletes the node of a waiter, two claims do not hold: the waiter starts again. */
    @ParameterizedTest
    @EnumSource(names = {"MUTEX", "READ", "WRITE"})
    void waiterOfTwoSecondsWhoseNodeIsDeletedBeginsAgainAtOnce(LockKind kind) {
        nodeOfTheThirdIsDeletedAfter(Duration.ofSeconds(2), kind);
    }

    @Test
    void waiterWhoseNodeIsDeletedSoonerBeginsAgainWithinTwoSeconds() {
        nodeOfTheThirdIsDeletedAfter(Duration.ZERO, LockKind.MUTEX);
    }

    /** The client checks the node of a claim that is next with each heartbeat, and so learns of it anyway. */
    private void nodeOfTheThirdIsDeletedAfter(Duration time, LockKind kind) {
        LockLease held = Waiting.forMono(exclusive(others, kind).acquire());
        CompletableFuture<LockLease> next = exclusive(others, kind).acquire().toFuture();
        Waiting.until("the next claim waits", () -> store.claims(ROOT).size() == 2);
        CompletableFuture<LockLease> third = lock(locks, kind).acquire().toFuture();
        Waiting.until("the claim waits", () -> store.claims(ROOT).size() == 3);
        Waiting.pass(time);
        String own = lastNode();
        store.delete(own);
        Waiting.until(
                "the waiter has another node, long before its next look at the queue is due",
                RecheckInterval.SHORTEST.dividedBy(2),
                () -> store.claims(ROOT).size() == 3 && !store.claims(ROOT).contains(own));
        Waiting.forMono(held.release());
        assertThat(next).succeedsWithin(Waiting.PATIENCE);
        assertThat(third).isNotDone();
        Waiting.forMono(next.join().release());
        assertThat(third).succeedsWithin(Waiting.PATIENCE);
        Waiting.forMono(third.join().release());
    }

    /** It watches the node in front only. */
    @Test
    void waiterForAPermitWhoseNodeIsDeletedBeginsAgainWhenThePermitIsFree() {
        LockLease held = Waiting.forMono(others.semaphore("deleted", 1).acquire());
        CompletableFuture<LockLease> waiter =
                locks.semaphore("deleted", 1).acquire().toFuture();
        Waiting.until("the claim waits", () -> store.claims(ROOT).size() == 2);
        store.delete(lastNode());
        Waiting.forMono(held.release());
        assertThat(waiter).succeedsWithin(RecheckInterval.SHORTEST.dividedBy(2));
        Waiting.forMono(waiter.join().release());
    }

    private static ReactiveLock lock(LockClient client, LockKind kind) {
        return switch (kind) {
            case READ -> client.readWriteLock("deleted").readLock();
            case WRITE -> client.readWriteLock("deleted").writeLock();
            default -> client.lock("deleted");
        };
    }

    private static ReactiveLock exclusive(LockClient client, LockKind kind) {
        return lock(client, kind == LockKind.READ ? LockKind.WRITE : kind);
    }

    private static String lastNode() {
        return store.claims(ROOT).stream()
                .max(Comparator.comparing(path -> path.substring(path.length() - 10)))
                .orElseThrow();
    }

    /** Only a limited number of creations is under way at once. A claim that is released before its creation is sent needs no node. */
    @Test
    void claimsThatAreReleasedBeforeTheyEnterWriteNothing() {
        ZooKeeperLockBackend backend = ZooKeeperLockBackend.over(curator);
        LockLease held = Waiting.forMono(others.lock("crowd").acquire());
        long before = written();
        List<CompletableFuture<Ownership>> released = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            LockClaim claim = LockClaim.first(
                    LockKey.of(LockKind.MUTEX, "crowd"),
                    "claim" + i,
                    Duration.ofSeconds(30),
                    io.holdfast.spi.Waiting.QUEUE);
            Disposable attempt = backend.tryAcquire(claim).subscribe();
            attempt.dispose();
            released.add(backend.release(claim).toFuture());
        }
        released.forEach(it -> assertThat(it).succeedsWithin(Waiting.PATIENCE).isEqualTo(Ownership.NOT_HELD));
        long written = written() - before;
        System.out.printf("1000 claims that were released at once: %d writes%n", written);
        assertThat(written).isLessThan(400);
        Waiting.forMono(held.release());
        Waiting.forMono(backend.close());
    }
}
