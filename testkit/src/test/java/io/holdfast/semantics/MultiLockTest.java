package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.ReactiveSemaphore;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

class MultiLockTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    @RegisterExtension
    final World world = new World();

    private ReactiveMultiLock all(String... names) {
        ReactiveLock[] locks = new ReactiveLock[names.length];
        for (int at = 0; at < names.length; at++) {
            locks[at] = world.client.lock(names[at]);
        }
        return world.client.all(locks);
    }

    private LockLease rivalHolds(String name) {
        return world.granted(world.rival.lock(name).acquire());
    }

    private boolean isFree(String name) {
        TestSubscriber<LockLease> attempt =
                world.subscribe(world.rival.lock(name).tryAcquire());
        attempt.getReceivedOnNext().forEach(lease -> world.subscribe(lease.release()));
        return !attempt.getReceivedOnNext().isEmpty();
    }

    @Test
    void allAreTakenAtOneTimeInTheCanonicalOrder() {
        world.on(Operation.TRY_ACQUIRE).always(Fault.delayedReply(SECOND));
        TestSubscriber<MultiLease> leases =
                world.subscribe(all("c", "a", "b", "a").acquire());
        world.pass(SECOND);

        MultiLease lease = world.only(leases);
        assertThat(lease.leases()).extracting(LockLease::lockName).containsExactly("a", "b", "c");
        assertThat(lease.leases()).allMatch(each -> each.fencingToken() > 0);
        assertThat(lease.lease("b")).isSameAs(lease.leases().get(1));
        assertThat(lease.isValid()).isTrue();
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(3);
        assertThat(lease.remaining()).isPositive().isLessThan(LEASE);

        world.on(Operation.TRY_ACQUIRE).none();
        world.subscribe(lease.release()).expectTerminalSignal();
        assertThat(lease.isValid()).isFalse();
        assertThat(world.store.contents()).isEmpty();
        assertThatThrownBy(() -> lease.lease("d")).hasMessageContaining("'d' is not one of [a, b, c]");
    }

    @Test
    void theLastIsReleasedFirst() {
        MultiLease lease = world.only(world.subscribe(all("a", "b", "c").acquire()));
        world.subscribe(lease.release());
        assertThat(world.events(LockEvent.Released.class))
                .extracting(LockEvent::lockName)
                .containsExactly("c", "b", "a");
    }

    @Test
    void tryAcquireTakesAllOrNone() {
        LockLease held = rivalHolds("b");
        TestSubscriber<MultiLease> empty = world.subscribe(all("a", "b", "c").tryAcquire());
        assertThat(empty.getReceivedOnNext()).isEmpty();
        assertThat(empty.isTerminatedComplete()).isTrue();
        assertThat(isFree("a") && isFree("c")).isTrue();

        world.subscribe(held.release());
        MultiLease lease = world.only(world.subscribe(all("a", "b", "c").tryAcquire()));
        world.subscribe(lease.release());
    }

    @Test
    void aFailedTryReleasesTheOthersAndFailsWithItsError() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.none(), Fault.refused());
        TestSubscriber<MultiLease> failed = world.subscribe(all("a", "b", "c").tryAcquire());
        assertThat(failed.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.lockName()).isEqualTo("b"));
        world.pass(World.OPERATION_TIMEOUT);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aWaitForAMemberHoldsEarlierMembersAndNoLaterOnes() {
        LockLease held = rivalHolds("b");
        TestSubscriber<MultiLease> leases = world.subscribe(all("a", "b", "c").acquire());
        assertThat(leases.getReceivedOnNext()).isEmpty();
        assertThat(isFree("a")).isFalse();
        assertThat(isFree("c")).isTrue();

        world.subscribe(held.release());
        MultiLease lease = world.only(leases);
        assertThat(isFree("a") || isFree("b") || isFree("c")).isFalse();
        world.subscribe(lease.release());
    }

    @Test
    void theTimeLimitAppliesToTheWholeAndTheErrorNamesTheMember() {
        LockOptions tenSeconds =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(10)).build();
        LockLease first = rivalHolds("a");
        LockLease second = rivalHolds("c");
        TestSubscriber<MultiLease> leases =
                world.subscribe(all("a", "b", "c").with(tenSeconds).acquire());
        world.pass(Duration.ofSeconds(6));
        world.subscribe(first.release());
        world.pass(Duration.ofSeconds(3));
        assertThat(leases.isTerminated()).isFalse();
        world.pass(Duration.ofSeconds(1));

        assertThat(leases.expectTerminalError()).isInstanceOfSatisfying(LockTimeoutException.class, error -> {
            assertThat(error.lockName()).isEqualTo("c");
            assertThat(error.waited()).isBetween(Duration.ofSeconds(10), Duration.ofMillis(10_100));
            assertThat(error.backendAnswered()).isTrue();
        });
        assertThat(isFree("a") && isFree("b")).isTrue();
        world.subscribe(second.release());
    }

    @Test
    void theShortestTimeLimitOfTheMembersCounts() {
        LockLease held = rivalHolds("a");
        LockOptions short1 = LockOptions.builder().waitTimeout(SECOND).build();
        ReactiveMultiLock locks =
                world.client.all(world.client.lock("a"), world.client.lock("b").with(short1));
        TestSubscriber<MultiLease> leases = world.subscribe(locks.acquire());
        world.pass(SECOND);
        assertThat(leases.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        world.subscribe(held.release());
    }

    @Test
    void theTimeLimitAppliesToTheFirstTryToo() {
        world.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest().silently());
        LockOptions short1 = LockOptions.builder().waitTimeout(SECOND).build();
        TestSubscriber<MultiLease> leases =
                world.subscribe(all("a", "b").with(short1).acquire());
        world.pass(SECOND);
        assertThat(leases.expectTerminalError()).isInstanceOfSatisfying(LockTimeoutException.class, error -> {
            assertThat(error.lockName()).isEqualTo("a");
            assertThat(error.waited()).isBetween(SECOND, SECOND.plusMillis(100));
            assertThat(error.backendAnswered()).isFalse();
        });
    }

    @Test
    void theTimeLimitAppliesToTheTryOfTheRestToo() {
        LockLease held = rivalHolds("a");
        LockOptions short1 = LockOptions.builder().waitTimeout(SECOND).build();
        TestSubscriber<MultiLease> leases =
                world.subscribe(all("a", "b", "c").with(short1).acquire());
        world.on(Operation.TRY_ACQUIRE).always(Fault.delayedReply(Duration.ofMillis(1_500)));
        world.subscribe(held.release());
        world.pass(SECOND);
        assertThat(leases.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockTimeoutException.class,
                        error -> assertThat(error.lockName()).isEqualTo("b"));
        world.pass(SECOND);
        assertThat(isFree("a") && isFree("b") && isFree("c")).isTrue();
    }

    @Test
    void theLossOfAReleasedLeaseIsNoLossOfItsSuccessor() {
        LockLease first = rivalHolds("a");
        LockLease last = rivalHolds("c");
        world.on(Operation.TRY_ACQUIRE).next(Fault.none(), Fault.delayedReply(Duration.ofMillis(10)));
        TestSubscriber<MultiLease> leases = world.subscribe(all("a", "b", "c").acquire());
        world.takeAway("b");
        world.on(Operation.RELEASE).next(Fault.delayedReply(SECOND));
        world.pass(Duration.ofMillis(10)); // "b" is released while the acquisition waits for "a"
        world.subscribe(first.release());
        assertThat(isFree("b")).as("taken again").isFalse();
        world.pass(SECOND);
        assertThat(leases.isTerminated()).isFalse();
        world.subscribe(last.release());
        MultiLease lease = world.only(leases);
        assertThat(lease.isValid()).isTrue();
        world.subscribe(lease.release());
    }

    @Test
    void acquisitionsInOppositeOrdersDoNotWaitForEachOther() {
        List<TestSubscriber<String>> results = new ArrayList<>();
        for (int round = 0; round < 10; round++) {
            Mono<String> work = Mono.just("done").delayElement(Duration.ofMillis(10), world.clock);
            results.add(world.subscribe(all("a", "b", "c").withLock(work)));
            results.add(world.subscribe(world.rival
                    .all(world.rival.lock("c"), world.rival.lock("b"), world.rival.lock("a"))
                    .withLock(work)));
        }
        world.pass(Duration.ofSeconds(20));
        assertThat(results).allMatch(TestSubscriber::isTerminatedComplete);
    }

    @Test
    void aLossDuringTheWaitForOtherMembersEndsTheAcquisition() {
        LockLease held = rivalHolds("c");
        TestSubscriber<MultiLease> leases = world.subscribe(all("a", "b", "c").acquire());
        world.takeAway("a");
        world.pass(LEASE);

        assertThat(leases.expectTerminalError()).isInstanceOfSatisfying(LockLostException.class, error -> {
            assertThat(error.lockName()).isEqualTo("a");
            assertThat(error.reason()).isEqualTo(LossReason.NOT_HELD);
        });
        world.subscribe(held.release());
        world.pass(World.OPERATION_TIMEOUT);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void theLossOfOneIsTheLossOfAll() {
        MultiLease lease = world.only(world.subscribe(all("a", "b").acquire()));
        TestSubscriber<LockLease> lost = world.subscribe(lease.onLoss());
        world.takeAway("b");
        world.pass(LEASE);

        assertThat(world.only(lost).lockName()).isEqualTo("b");
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(isFree("a")).as("held until it is released").isFalse();
        assertThat(world.subscribe(lease.release()).expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        error -> assertThat(error.lockName()).isEqualTo("b"));
        assertThat(isFree("a")).isTrue();
    }

    @Test
    void aLossCancelsTheWorkAndThenReleasesTheOthers() {
        TestPublisher<String> work = TestPublisher.create();
        AtomicReference<MultiLease> held = new AtomicReference<>();
        TestSubscriber<String> result = world.subscribe(all("a", "b").withLock(lease -> {
            held.set(lease);
            return work.mono();
        }));
        world.takeAway("a");
        world.pass(LEASE);

        work.assertCancelled();
        assertThat(result.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        error -> assertThat(error.lockName()).isEqualTo("a"));
        assertThat(world.store.contents()).isEmpty();
        assertThat(held.get().isValid()).isFalse();
    }

    @Test
    void withLockReleasesAllHoweverTheWorkEnds() {
        assertThat(world.only(world.subscribe(all("a", "b").withLock(Mono.just("done")))))
                .isEqualTo("done");
        RuntimeException broken = new IllegalStateException("broken");
        assertThat(world.subscribe(all("a", "b").withLock(Mono.error(broken))).expectTerminalError())
                .isSameAs(broken);
        TestSubscriber<Object> left = world.subscribe(all("a", "b").withLock(Mono.never()));
        left.cancel();
        world.pass(Duration.ZERO);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void workSeesEachMemberAsHeld() {
        TestSubscriber<Boolean> same = world.subscribe(all("a", "b")
                .withLock(leases -> world.client
                        .lock("b")
                        .withLock(nested -> Mono.just(
                                nested.fencingToken() == leases.lease("b").fencingToken()))));
        assertThat(world.only(same)).isTrue();
    }

    @Test
    void aMemberThatThePipelineHoldsAlreadyIsNested() {
        TestSubscriber<Boolean> same = world.subscribe(world.client
                .lock("b")
                .withLock(outer -> all("a", "b")
                        .withLock(leases -> Mono.just(leases.lease("b").fencingToken() == outer.fencingToken()))));
        assertThat(world.only(same)).isTrue();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void bothSidesOfAReadWriteLockTakeTheWriteSide() {
        var sides = world.client.readWriteLock("a");
        ReactiveMultiLock locks = world.client.all(
                sides.readLock(), world.client.readWriteLock("b").readLock(), sides.writeLock());
        assertThat(locks.names()).containsExactly("a", "b");
        MultiLease lease = world.only(world.subscribe(locks.acquire()));
        TestSubscriber<LockLease> reader =
                world.subscribe(world.rival.readWriteLock("a").readLock().tryAcquire());
        assertThat(reader.getReceivedOnNext()).isEmpty();
        LockLease shared =
                world.granted(world.rival.readWriteLock("b").readLock().tryAcquire());
        world.subscribe(lease.release());
        world.subscribe(shared.release());
    }

    @Test
    void locksThatCannotBeTakenTogetherAreRefused() {
        assertThatThrownBy(() -> world.client.all()).hasMessageContaining("1 to 64 locks can be taken together, not 0");
        ReactiveLock[] many = IntStream.range(0, 65)
                .mapToObj(at -> world.client.lock("n" + at))
                .toArray(ReactiveLock[]::new);
        assertThatThrownBy(() -> world.client.all(many)).hasMessageContaining("not 65");
        assertThatThrownBy(() -> world.client.all(world.rival.lock("a")))
                .hasMessage("lock 'a' is not of this client: only locks of one client can be taken together");
        assertThatThrownBy(() -> world.client.all(world.client.lock("a"), world.client.semaphore("a", 2)))
                .hasMessage(
                        "two different locks have the name 'a', and cannot be taken together: a mutex and a semaphore"
                                + " with 2 permits");
        ReactiveSemaphore pool = world.client.semaphore("pool", 5);
        assertThatThrownBy(() -> world.client.all(pool.permits(2), pool.permits(3)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("'pool'", "2", "3");
        assertThatThrownBy(() -> world.client.all(pool, pool.permits(2))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void manyPermitsAreTakenTogetherWithOtherLocksAndCountOnce() {
        ReactiveSemaphore pool = world.client.semaphore("pool", 5);
        MultiLease lease = world.only(world.subscribe(world.client
                .all(pool.permits(3), world.client.lock("b"), pool.permits(3))
                .acquire()));
        assertThat(world.subscribe(world.rival.semaphore("pool", 5).permits(3).tryAcquire())
                        .getReceivedOnNext())
                .isEmpty();
        LockLease rest =
                world.granted(world.rival.semaphore("pool", 5).permits(2).tryAcquire());
        world.subscribe(lease.release());
        world.subscribe(rest.release());
    }

    @Test
    void manyPermitsAfterAWaitWithALimitAreAllTaken() {
        ReactiveSemaphore rival = world.rival.semaphore("pool", 5);
        LockLease held = world.granted(rival.permits(3).acquire());
        LockOptions patient =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(5)).build();
        TestSubscriber<MultiLease> waiting = world.subscribe(world.client
                .all(world.client.lock("b"), world.client.semaphore("pool", 5).permits(3))
                .with(patient)
                .acquire());
        world.pass(Duration.ofSeconds(1));
        world.subscribe(held.release());
        MultiLease lease = world.only(waiting);
        assertThat(world.subscribe(rival.permits(3).tryAcquire()).getReceivedOnNext())
                .isEmpty();
        world.subscribe(world.granted(rival.permits(2).tryAcquire()).release());
        world.subscribe(lease.release());
    }

    @Test
    void aClientThatClosesEndsTheAcquisition() {
        LockLease held = rivalHolds("b");
        TestSubscriber<MultiLease> leases = world.subscribe(all("a", "b").acquire());
        world.subscribe(world.client.close());
        assertThat(leases.expectTerminalError()).isInstanceOfAny(LockClosedException.class, LockLostException.class);
        world.subscribe(held.release());
    }

    @Test
    void nothingIsSentBeforeAnElementIsRequested() {
        TestSubscriber<MultiLease> waiting =
                TestSubscriber.builder().initialRequest(0).build();
        all("a", "b").acquire().subscribe(waiting);
        world.pass(Duration.ZERO);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isZero();
        waiting.cancel();
    }

    /**
     * A subscriber may cancel at any instant, and answers may be late or lost. The world checks that nothing is left.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
    void cancellingManyLocksAtAnyInstantLeavesNothing(int seed) {
        Random random = new Random(seed);
        world.on(Operation.TRY_ACQUIRE)
                .sometimes(
                        seed,
                        0.5,
                        Fault.lostReply(),
                        Fault.lostRequest(),
                        Fault.delayedReply(Duration.ofMillis(7)),
                        Fault.delayedRequest(Duration.ofMillis(5)));
        for (int round = 0; round < 100; round++) {
            LockLease held = random.nextBoolean()
                    ? rivalHolds("abc".substring(random.nextInt(3)).substring(0, 1))
                    : null;
            TestSubscriber<?> leaving = world.subscribe(
                    random.nextBoolean()
                            ? all("a", "b", "c").withLock(Mono.never())
                            : all("a", "b", "c").acquire());
            world.pass(Duration.ofMillis(random.nextInt(30)));
            if (held != null && random.nextBoolean()) {
                world.subscribe(held.release());
                world.pass(Duration.ofMillis(random.nextInt(10)));
            }
            leaving.cancel();
            leaving.getReceivedOnNext().forEach(lease -> world.subscribe(((MultiLease) lease).release()));
            world.pass(Duration.ofSeconds(5));
            if (held != null) {
                world.subscribe(held.release());
            }
            assertThat(world.store.contents()).isEmpty();
        }
    }
}
