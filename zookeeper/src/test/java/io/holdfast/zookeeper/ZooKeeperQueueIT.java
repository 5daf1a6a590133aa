package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveSemaphore;
import io.holdfast.testkit.LeftoversExtension;
import io.holdfast.zookeeper.internal.operation.RecheckInterval;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Queues of locks on one real server. */
class ZooKeeperQueueIT {

    private static final String ROOT = "/queue/holdfast";

    private static Store store;
    private static CuratorFramework curator;

    private final LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("tree", () -> store.claims(ROOT));

    @BeforeAll
    static void start() throws Exception {
        store = Store.start();
        store.eye().create().forPath("/queue"); // so that the rights of the first test do not apply to all tests
        curator = store.client("queue", store.address(), Duration.ofSeconds(10));
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @AfterEach
    void close() {
        Waiting.forMono(locks.close());
    }

    private static int queued() {
        return store.claims(ROOT).size();
    }

    /** Enters the claims one by one, so that the order of the queue is the order of the list. */
    private static List<CompletableFuture<LockLease>> inLine(ReactiveLock lock, int count) {
        List<CompletableFuture<LockLease>> waiting = new ArrayList<>();
        int before = queued();
        for (int i = 0; i < count; i++) {
            waiting.add(lock.acquire().toFuture());
            int expected = before + i + 1;
            Waiting.until("the claim is in line", () -> queued() >= expected);
        }
        return waiting;
    }

    @Test
    void thousandWaitersCostNoThreadsAndAHandOffWakesOneOfThem() {
        ReactiveLock lock = locks.lock("thousand");
        LockLease holder = Waiting.forMono(lock.acquire());
        Waiting.forMono(Waiting.forMono(locks.lock("warm").acquire()).release());
        int threads = Thread.getAllStackTraces().size();
        Queue<LockLease> granted = new ConcurrentLinkedQueue<>();
        AtomicInteger failed = new AtomicInteger();
        Disposable all = Flux.range(0, 1_000)
                .flatMap(i -> lock.acquire().doOnNext(granted::add), Integer.MAX_VALUE)
                .subscribe(lease -> {}, error -> failed.incrementAndGet());
        Waiting.until("all waiters are queued", () -> queued() == 1_001);
        Waiting.until("all waiters are watched", () -> store.server().watches() >= 1_001);
        assertThat(Thread.getAllStackTraces().size()).as("threads").isLessThanOrEqualTo(threads + 2);

        long seenBefore = Server.deletionsSeen();
        int handOvers = 1_000;
        LockLease current = holder;
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < handOvers; i++) {
            tokens.add(current.fencingToken());
            Waiting.forMono(current.release());
            current = Waiting.untilSome("the next lease", granted::poll);
        }
        Waiting.forMono(current.release());
        long fired = Server.deletionsSeen() - seenBefore;
        System.out.printf("%d hand-offs fired %d watches%n", handOvers, fired);
        // The holder's watch of its own node, and the watch of the next claim.
        assertThat(fired).as("watches fired").isBetween((long) handOvers, 2L * handOvers + 2);
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertThat(failed).hasValue(0);
        all.dispose();
    }

    @Test
    void thousandCancellationsAtRandomInstantsLeaveNothing() {
        Random random = new Random(42);
        ReactiveLock lock = locks.lock("cancelled");
        Waiting.forMono(Waiting.forMono(lock.acquire()).release());
        Flux<Integer> cancellations = Flux.range(0, 1_000)
                .flatMap(
                        i -> lock.acquire()
                                .flatMap(LockLease::release)
                                .takeUntilOther(Mono.delay(Duration.ofNanos(random.nextInt(5_000_000))))
                                .thenReturn(i),
                        50);
        assertThat(Waiting.forMono(cancellations.count())).isEqualTo(1_000);
        LockLease next = Waiting.forMono(lock.acquire());
        Waiting.forMono(next.release());
        Waiting.until("no node is left", () -> queued() == 0);
        Waiting.forMono(Waiting.forMono(lock.tryAcquire()).release());
    }

    @Test
    void permitsReleasedOutOfOrderAreNotMissed() {
        ReactiveLock semaphore = locks.semaphore("out of order", 3);
        List<CompletableFuture<LockLease>> all = inLine(semaphore, 9);
        List<LockLease> held = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            held.add(joined(all.get(i)));
        }
        Random random = new Random(1);
        for (int next = 3; next < 9; next++) {
            // Releases a random lease: the newest, the oldest or one between. In each case the next waiter is woken.
            Waiting.forMono(held.remove(random.nextInt(held.size())).release());
            held.add(joined(all.get(next)));
            assertThat(all.subList(next + 1, 9)).noneMatch(CompletableFuture::isDone);
        }
        Collections.shuffle(held, random);
        held.forEach(lease -> Waiting.forMono(lease.release()));
    }

    /** The first waiter may need the permits of several holders, and the permits that remain may suffice for several waiters. */
    @Test
    void permitsOfDifferentNumbersAreNotMissed() {
        Random random = new Random(2);
        ReactiveSemaphore semaphore = locks.semaphore("different numbers", 6);
        List<Integer> taken = random.ints(20, 1, 7).boxed().toList();
        List<CompletableFuture<LockLease>> all = new ArrayList<>();
        for (int permits : taken) {
            all.addAll(inLine(semaphore.permits(permits), 1));
        }
        List<Integer> held = new ArrayList<>();
        for (int next = 0; next < all.size(); next++) {
            while (held.stream().mapToInt(taken::get).sum() + taken.get(next) > 6) {
                assertThat(all.subList(next, all.size())).noneMatch(CompletableFuture::isDone);
                int left = held.remove(random.nextInt(held.size()));
                Waiting.forMono(all.get(left).join().release());
            }
            LockLease unused = joined(all.get(next));
            held.add(next);
        }
        held.forEach(left -> Waiting.forMono(all.get(left).join().release()));
    }

    @Test
    void permitsReleasedTogetherGoToAsManyWaiters() {
        ReactiveLock semaphore = locks.semaphore("together", 3);
        List<CompletableFuture<LockLease>> all = inLine(semaphore, 6);
        List<LockLease> first =
                all.subList(0, 3).stream().map(ZooKeeperQueueIT::joined).toList();
        long seen = Server.deletionsSeen();
        Waiting.forMono(Flux.fromIterable(first).flatMap(LockLease::release).then());
        List<LockLease> second =
                all.subList(3, 6).stream().map(ZooKeeperQueueIT::joined).toList();
        assertThat(Server.deletionsSeen() - seen)
                .as("watches fired, of waiters and of holders")
                .isLessThanOrEqualTo(2L * 3);
        second.forEach(lease -> Waiting.forMono(lease.release()));
    }

    private static LockLease joined(CompletableFuture<LockLease> future) {
        assertThat(future).succeedsWithin(RecheckInterval.SHORTEST.dividedBy(2));
        return future.join();
    }

    @Test
    void waiterInTheMiddleThatLeavesDelaysNoOtherWaiter() {
        LockLease holder = Waiting.forMono(locks.lock("middle").acquire());
        List<CompletableFuture<LockLease>> first = inLine(locks.lock("middle"), 1);
        Disposable leaving = locks.lock("middle").acquire().subscribe();
        Waiting.until("both claims are in line", () -> queued() == 3);
        List<CompletableFuture<LockLease>> last = inLine(locks.lock("middle"), 1);
        leaving.dispose();
        Waiting.until("the waiter has left", () -> queued() == 3);
        Waiting.forMono(holder.release());
        Waiting.forMono(joined(first.get(0)).release());
        Waiting.forMono(joined(last.get(0)).release());
    }

    @Test
    void attemptsOnAHeldLockWriteNothingAndLeaveNoWatches() {
        int before = store.server().watches();
        LockLease holder = Waiting.forMono(locks.lock("tried").acquire());
        Waiting.until("the holder watches its node", () -> store.server().watches() > before);
        Waiting.forMono(locks.lock("tried").tryAcquire());
        int watches = store.server().watches();
        long zxid = store.server().inside().getZKDatabase().getDataTreeLastProcessedZxid();
        for (int i = 0; i < 50; i++) {
            assertThat(Waiting.forMono(locks.lock("tried").tryAcquire().hasElement()))
                    .isFalse();
        }
        long renewals = 20;
        assertThat(store.server().inside().getZKDatabase().getDataTreeLastProcessedZxid())
                .isLessThan(zxid + renewals);
        assertThat(store.server().watches()).isEqualTo(watches);
        Waiting.forMono(holder.release());
    }

    @Test
    void shortWaitsOnALongHeldLockLeaveNoWatches() {
        LockLease holder = Waiting.forMono(locks.lock("long held").acquire());
        ReactiveLock impatient = locks.lock("long held")
                .with(LockOptions.builder().waitTimeout(Duration.ofMillis(20)).build());
        assertThatThrownBy(() -> Waiting.forMono(impatient.acquire())).isInstanceOf(LockTimeoutException.class);
        Waiting.until("the claim has left", () -> queued() == 1);
        int watches = store.server().watches();
        for (int i = 0; i < 30; i++) {
            assertThatThrownBy(() -> Waiting.forMono(impatient.acquire())).isInstanceOf(LockTimeoutException.class);
        }
        Waiting.until("all claims have left", () -> queued() == 1);
        assertThat(store.server().watches()).isLessThanOrEqualTo(watches + 1);
        Waiting.forMono(holder.release());
    }

    @Test
    void longestOddestNamesAreDifferentLocks() {
        List<String> names = Stream.of(
                        "/",
                        "..",
                        "../..",
                        ".",
                        "a/b",
                        "a%2Fb",
                        "a/../b",
                        "zookeeper",
                        "é",
                        "e\u0301",
                        "🔒",
                        "\0",
                        "\uffff")
                .flatMap(name -> Stream.of(name, name + "x".repeat(400), "/".repeat(500) + name))
                .filter(name -> name.getBytes(java.nio.charset.StandardCharsets.UTF_8).length <= 512)
                .toList();
        List<LockLease> leases = names.stream()
                .map(name -> Waiting.forMono(locks.lock(name).tryAcquire()))
                .toList();
        assertThat(leases).doesNotContainNull().hasSize(names.size());
        assertThat(queued()).isEqualTo(names.size());
        leases.forEach(lease -> Waiting.forMono(lease.release()));
    }

    @Test
    void usedUpNumbersStartAgainWithoutTwoHolders() {
        ReactiveLock lock = locks.lock("used up");
        LockLease first = Waiting.forMono(lock.acquire());
        store.server().setNextNumber(ROOT + "/mutex/used%20up", Integer.MAX_VALUE - 1);
        List<CompletableFuture<LockLease>> waiting = inLine(lock, 1);
        List<CompletableFuture<LockLease>> past =
                IntStream.range(0, 3).mapToObj(i -> lock.acquire().toFuture()).toList();
        assertThatThrownBy(() -> Waiting.forMono(ZooKeeperLockBackend.over(curator)
                        .tryAcquire(io.holdfast.spi.LockClaim.first(
                                io.holdfast.spi.LockKey.of(io.holdfast.LockKind.MUTEX, "used up"),
                                "someone",
                                Duration.ofSeconds(30),
                                io.holdfast.spi.Waiting.QUEUE))))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("2^31");
        assertThat(past).noneMatch(CompletableFuture::isDone);
        long token = first.fencingToken();
        Waiting.forMono(first.release());
        LockLease second = joined(waiting.get(0));
        assertThat(second.fencingToken()).isGreaterThan(token);
        assertThat(past).noneMatch(CompletableFuture::isDone);
        token = second.fencingToken();
        Waiting.forMono(second.release());
        // The order of claims without a valid number is lost. They get the lock one after another.
        List<CompletableFuture<LockLease>> left = new ArrayList<>(past);
        while (!left.isEmpty()) {
            Waiting.until("one more lease", () -> left.stream().anyMatch(CompletableFuture::isDone));
            assertThat(left.stream().filter(CompletableFuture::isDone)).hasSize(1);
            int done = IntStream.range(0, left.size())
                    .filter(i -> left.get(i).isDone())
                    .findFirst()
                    .orElseThrow();
            CompletableFuture<LockLease> next = left.remove(done);
            assertThat(next.join().fencingToken()).isGreaterThan(token);
            token = next.join().fencingToken();
            Waiting.forMono(next.join().release());
        }
    }

    @Test
    void removedParentsAreCreatedAgain() throws Exception {
        for (int round = 0; round < 5; round++) {
            Waiting.forMono(Waiting.forMono(locks.lock("reaped").acquire()).release());
            store.eye().delete().deletingChildrenIfNeeded().forPath(round % 2 == 0 ? ROOT + "/mutex/reaped" : ROOT);
        }
        LockLease lease = Waiting.forMono(locks.lock("reaped").tryAcquire());
        Waiting.forMono(lease.release());
    }

    @Test
    void nodesOfOtherProgramsDoNotBlock() throws Exception {
        Waiting.forMono(Waiting.forMono(locks.lock("shared").acquire()).release());
        String queue = ROOT + "/mutex/shared";
        store.eye().create().withMode(CreateMode.EPHEMERAL).forPath(queue + "/lock-0000000000");
        LockLease lease = Waiting.forMono(locks.lock("shared").tryAcquire());
        Waiting.forMono(lease.release());
        store.eye().delete().forPath(queue + "/lock-0000000000");
    }

    @Test
    void accessRightsAreThoseOfTheProvider() throws Exception {
        List<ACL> rights = List.of(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.ADMIN, ZooDefs.Ids.ANYONE_ID_UNSAFE));
        LockClient guarded = LockClient.create(ZooKeeperLockBackend.builder(curator)
                .root("/guarded")
                .acl(new ACLProvider() {
                    @Override
                    public List<ACL> getDefaultAcl() {
                        return ZooDefs.Ids.READ_ACL_UNSAFE;
                    }

                    @Override
                    public List<ACL> getAclForPath(String path) {
                        return path.startsWith("/queue/guarded") ? rights : null;
                    }
                })
                .build());
        LockLease lease = Waiting.forMono(guarded.lock("rights").acquire());
        String node = store.claims("/queue/guarded").get(0);
        assertThat(store.eye().getACL().forPath(node)).isEqualTo(rights);
        assertThat(store.eye().getACL().forPath("/queue/guarded/mutex")).isEqualTo(rights);
        Waiting.forMono(lease.release());
        Waiting.forMono(guarded.close());
    }

    @Test
    void rightsAreNeededUnderTheRootOnly() throws Exception {
        store.eye().create().forPath("/given");
        List<ACL> before = store.eye().getACL().forPath("/");
        store.eye()
                .setACL()
                .withACL(List.of(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.CREATE, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
                .forPath("/");
        LockClient confined = LockClient.create(
                ZooKeeperLockBackend.builder(store.eye()).root("/given/locks").build());
        try {
            Waiting.forMono(Waiting.forMono(confined.lock("confined").acquire()).release());
        } finally {
            store.eye().setACL().withACL(before).forPath("/");
        }
        Waiting.forMono(confined.close());
    }

    @Test
    void missingRightsAreAnErrorThatSaysSo() {
        LockClient powerless = LockClient.create(ZooKeeperLockBackend.builder(curator)
                .root("/powerless")
                .acl(new ACLProvider() {
                    @Override
                    public List<ACL> getDefaultAcl() {
                        return ZooDefs.Ids.READ_ACL_UNSAFE;
                    }

                    @Override
                    public List<ACL> getAclForPath(String path) {
                        return ZooDefs.Ids.READ_ACL_UNSAFE;
                    }
                })
                .build());
        assertThatThrownBy(() -> Waiting.forMono(powerless.lock("x").acquire()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        e -> assertThat(e.isTransient()).isFalse())
                .hasMessageContaining("access rights");
        Waiting.forMono(powerless.close());
    }

    @Test
    void readersBehindOneWriterGoTogether() {
        var door = locks.readWriteLock("door");
        LockLease writer = Waiting.forMono(door.writeLock().acquire());
        List<CompletableFuture<LockLease>> readers = inLine(door.readLock(), 5);
        List<CompletableFuture<LockLease>> behind = inLine(door.writeLock(), 1);
        Waiting.forMono(writer.release());
        List<LockLease> reading = readers.stream().map(ZooKeeperQueueIT::joined).toList();
        assertThat(behind.get(0)).isNotDone();
        List<LockLease> shuffled = new ArrayList<>(reading);
        Collections.shuffle(shuffled, new Random(5));
        shuffled.forEach(lease -> Waiting.forMono(lease.release()));
        Waiting.forMono(joined(behind.get(0)).release());
    }

    @Test
    void rootThatIsNotFreeIsRefused() {
        assertThatThrownBy(() -> ZooKeeperLockBackend.builder(curator).root("/"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ZooKeeperLockBackend.builder(curator).root("/zookeeper/locks"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ZooKeeperLockBackend.builder(curator).root("locks"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void uncontendedCycleIsTwoRequestsOfItsOwn() {
        ReactiveLock lock = locks.lock("budget");
        // In the second cycle, the back end watches for the deletion of the queue.
        for (int i = 0; i < 2; i++) {
            Waiting.forMono(Waiting.forMono(lock.acquire()).release());
        }
        long zxid = store.server().inside().getZKDatabase().getDataTreeLastProcessedZxid();
        int cycles = 20;
        long packets = store.server().inside().serverStats().getPacketsReceived();
        long start = System.nanoTime();
        for (int i = 0; i < cycles; i++) {
            Waiting.forMono(Waiting.forMono(lock.acquire()).release());
        }
        long written = store.server().inside().getZKDatabase().getDataTreeLastProcessedZxid() - zxid;
        long requests = store.server().inside().serverStats().getPacketsReceived() - packets;
        System.out.printf("%d cycles: %d transactions, %d packets, pings included%n", cycles, written, requests);
        assertThat(written).isEqualTo(2L * cycles);
        // One create and one delete, and some pings and heartbeats each second.
        long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
        assertThat(requests).isBetween(2L * cycles, 2L * cycles + 10 + 10 * seconds);
    }

    @Test
    void holderThatKeepsItsLockForAWhileWatchesItsNode() {
        int watches = store.server().watches();
        LockLease lease = Waiting.forMono(locks.lock("watched").acquire());
        Waiting.until("the node is watched", () -> store.server().watches() > watches);
        Waiting.forMono(lease.release());
    }
}
