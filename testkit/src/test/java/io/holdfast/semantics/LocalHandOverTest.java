package io.holdfast.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LocalHandOver;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/** The behaviour of a lock that is handed over inside a process, and its cost at the back end. */
class LocalHandOverTest {

    private static final String NAME = "stock/42";
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration MOMENT = Duration.ofMillis(1);

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(clock);
    private final List<LockClient> clients = new ArrayList<>();
    private final FaultyLockBackend faulty = FaultyLockBackend.over(store, clock);
    private final List<LockClaim> attempts = new ArrayList<>();
    private final ReactiveLock lock = process(recorded(), it -> it).lock(NAME);
    private final ReactiveLock foreign = process(store, it -> it).lock(NAME);

    /** A waiting claim of the other process, in the tests that need one. */
    private final TestSubscriber<LockLease> other = TestSubscriber.create();

    /** Records the attempts that reach the back end. */
    private LockBackend recorded() {
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return faulty;
            }

            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                attempts.add(claim);
                return faulty.tryAcquire(claim);
            }
        };
    }

    private LockClient process(LockBackend backend, UnaryOperator<LocalHandOver.Builder> bounds) {
        LockBackend handsOver =
                bounds.apply(LocalHandOver.builder(backend).timer(clock)).build();
        LockClient client = LockClient.builder(handsOver)
                .timer(clock)
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .closeBackend(false)
                .build();
        clients.add(client);
        return client;
    }

    @AfterEach
    void nothingIsLeft() {
        faulty.heal();
        clients.forEach(client -> client.close().subscribe());
        pass(Duration.ofSeconds(2));
        assertThat(store.contents()).isEmpty();
    }

    private void pass(Duration time) {
        clock.advanceTimeBy(time);
    }

    private <T> TestSubscriber<T> subscribe(Mono<T> mono) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        mono.subscribe(subscriber);
        pass(Duration.ZERO);
        return subscriber;
    }

    private List<TestSubscriber<LockLease>> waiters(ReactiveLock of, int count) {
        return IntStream.range(0, count).mapToObj(i -> subscribe(of.acquire())).toList();
    }

    private static boolean holds(TestSubscriber<LockLease> waiter) {
        return !waiter.getReceivedOnNext().isEmpty();
    }

    private static LockLease lease(TestSubscriber<LockLease> waiter) {
        assertThat(waiter.getReceivedOnNext()).hasSize(1);
        return waiter.getReceivedOnNext().get(0);
    }

    private void release(TestSubscriber<LockLease> owner) {
        subscribe(lease(owner).release());
    }

    /** Makes waiters of this process, the first of which holds the lock, while {@link #other} waits at the back end. */
    private List<TestSubscriber<LockLease>> turnAheadOfOther(int waiters) {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = waiters(lock, waiters);
        otherWaits();
        release(holder);
        return waiting;
    }

    private void otherWaits() {
        foreign.acquire().subscribe(other);
        pass(Duration.ZERO);
    }

    private void lastOneFollowsOther(TestSubscriber<LockLease> last) {
        release(other);
        pass(LEASE);
        assertThat(lease(last).fencingToken()).isGreaterThan(lease(other).fencingToken());
        release(last);
    }

    private int commands() {
        return faulty.on(Operation.TRY_ACQUIRE).calls()
                + faulty.on(Operation.RELEASE).calls()
                + faulty.on(Operation.RENEW).calls();
    }

    @Test
    void aThousandHandOversCostFewCommands() {
        long[] last = new long[1];
        int[] done = new int[1];
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        for (int i = 0; i < 100; i++) {
            lock.withLock(lease -> Mono.fromRunnable(() -> {
                        assertThat(lease.fencingToken()).isGreaterThan(last[0]);
                        last[0] = lease.fencingToken();
                        done[0]++;
                    }))
                    .repeat(9)
                    .subscribe();
        }
        release(holder);
        pass(Duration.ofSeconds(1));
        assertThat(done[0]).isEqualTo(1_000);
        assertThat(commands()).as("2 000 without a hand-over").isLessThan(60);
    }

    @Test
    void anUncontendedCycleCostsAsManyRequestsAsWithoutAHandOver() {
        release(subscribe(lock.acquire()));
        assertThat(commands()).isEqualTo(2);
    }

    @Test
    void aLongChainOfHandOversDoesNotOverflowTheStack() {
        ReactiveLock many = process(faulty, it -> it.maxHandOvers(100_000).maxTurnTime(Duration.ofMinutes(1)))
                .lock(NAME);
        TestSubscriber<LockLease> first = subscribe(many.acquire());
        int[] done = new int[1];
        for (int i = 0; i < 20_000; i++) {
            many.withLock(lease -> Mono.fromRunnable(() -> done[0]++)).subscribe();
        }
        release(first);
        pass(Duration.ofSeconds(1));
        assertThat(done[0]).isEqualTo(20_000);
    }

    @Test
    void aClaimOfAnotherProcessWaitsForTheTurnAheadOfItAndNoLonger() {
        ReactiveLock bounded = process(faulty, it -> it.maxHandOvers(2)).lock(NAME);
        TestSubscriber<LockLease> first = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = waiters(bounded, 5);
        otherWaits();
        release(first);
        for (int owner = 0; owner < 3; owner++) {
            assertThat(holds(other)).isFalse();
            release(waiting.get(owner));
        }
        assertThat(holds(other)).isTrue();
        assertThat(holds(waiting.get(3))).isFalse();
        release(other);
        release(waiting.get(3));
        release(waiting.get(4));
    }

    @Test
    void aTurnThatBeganWithoutWaitersHandsNothingOver() {
        TestSubscriber<LockLease> first = subscribe(lock.acquire());
        otherWaits();
        TestSubscriber<LockLease> late = subscribe(lock.acquire());
        release(first);
        assertThat(holds(other)).isTrue();
        assertThat(holds(late)).isFalse();
        release(other);
        release(late);
    }

    @Test
    void claimsThatArriveDuringATurnAreServedInIt() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        TestSubscriber<LockLease> late = subscribe(lock.acquire());
        release(waiting.get(0));
        TestSubscriber<LockLease> later = subscribe(lock.acquire());
        release(waiting.get(1));
        assertThat(holds(late)).isTrue();
        release(late);
        assertThat(holds(later)).isTrue();
        assertThat(holds(other)).isFalse();
        release(later);
        assertThat(holds(other)).isTrue();
        release(other);
        assertThat(store.contents()).as("the place of a next turn").isEmpty();
    }

    @Test
    void aProcessInAClosedLoopHandsOverAtMostSoOftenBeforeAWaiterOfAnotherProcess() {
        ReactiveLock bounded = process(faulty, it -> it.maxHandOvers(10)).lock(NAME);
        int[] done = new int[1];
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        for (int i = 0; i < 20; i++) {
            bounded.withLock(lease -> Mono.fromRunnable(() -> done[0]++))
                    .repeat(9)
                    .subscribe();
        }
        for (int turn = 1; turn <= 3; turn++) {
            TestSubscriber<LockLease> next = subscribe(foreign.acquire());
            release(holder);
            pass(MOMENT);
            assertThat(holds(next)).isTrue();
            assertThat(done[0]).as("an owner and ten hand-overs").isEqualTo(turn * 11);
            holder = next;
        }
        release(holder);
        pass(Duration.ofSeconds(1));
        assertThat(done[0]).isEqualTo(200);
    }

    @Test
    void theNextTurnHasItsPlaceWhenTheBoundsEndThisOne() {
        ReactiveLock bounded = process(faulty, it -> it.maxHandOvers(1)).lock(NAME);
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = waiters(bounded, 3);
        release(holder);
        TestSubscriber<LockLease> later = subscribe(foreign.acquire());
        release(waiting.get(0));
        release(waiting.get(1));
        assertThat(holds(waiting.get(2))).isTrue();
        assertThat(holds(later)).isFalse();
        release(waiting.get(2));
        release(later);
    }

    @Test
    void anUnwantedPlaceIsGivenUpAlthoughTheFirstReleaseIsLost() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        TestSubscriber<LockLease> late = subscribe(lock.acquire());
        TestSubscriber<LockLease> third =
                subscribe(process(store, it -> it).lock(NAME).acquire());
        release(waiting.get(0));
        release(waiting.get(1));
        faulty.on(Operation.RELEASE).next(Fault.lostRequest());
        release(late);
        assertThat(holds(other)).isTrue();
        pass(Duration.ofSeconds(5));
        release(other);
        assertThat(holds(third)).isTrue();
        release(third);
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void aReleaseIsRepeatedAlthoughBothOfItsRequestsAreLost() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        TestSubscriber<LockLease> late = subscribe(lock.acquire());
        release(waiting.get(0));
        release(waiting.get(1));
        faulty.on(Operation.RELEASE).next(Fault.lostRequest(), Fault.lostRequest());
        TestSubscriber<Void> released = subscribe(lease(late).release());
        pass(Duration.ofSeconds(1));
        assertThat(released.isTerminatedComplete()).isTrue();
        assertThat(holds(other)).as("long before the lease ends").isTrue();
        release(other);
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void aRenewalThatMeetsTheReleaseDoesNotKeepThePlaceOfTheNextTurn() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        TestSubscriber<LockLease> late = subscribe(lock.acquire());
        release(waiting.get(0));
        release(waiting.get(1));
        faulty.on(Operation.RENEW).next(Fault.delayedRequest(MOMENT));
        TestSubscriber<Void> renewed = subscribe(lease(late).renew());
        faulty.on(Operation.RELEASE).next(Fault.lostRequest(), Fault.lostReply());
        release(late);
        pass(Duration.ofSeconds(1));
        assertThat(renewed.isTerminatedError()).isTrue();
        assertThat(holds(other)).isTrue();
        release(other);
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void aWaiterThatGetsTheLockWhileItsAttemptIsUnderWayKeepsIt() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(Duration.ofMillis(3)));
        TestSubscriber<LockLease> late = subscribe(lock.acquire());
        release(waiting.get(0));
        release(waiting.get(1));
        assertThat(holds(late)).isTrue();
        pass(Duration.ofMillis(3));
        assertThat(lease(late).isValid()).isTrue();
        TestSubscriber<LockLease> last = subscribe(lock.acquire());
        release(late);
        assertThat(holds(last)).as("within the turn").isTrue();
        release(last);
        release(other);
    }

    @Test
    void anAttemptForTheNextTurnThatFailsWhenItsWaiterHasTheLockIsSentAgainForTheOthers() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.lostRequest());
        TestSubscriber<LockLease> late = subscribe(lock.acquire());
        TestSubscriber<LockLease> last = subscribe(lock.acquire());
        release(waiting.get(0));
        release(waiting.get(1));
        assertThat(holds(late)).isTrue();
        int before = faulty.on(Operation.TRY_ACQUIRE).calls();
        pass(Duration.ofSeconds(3));
        assertThat(faulty.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(before + 1);
        assertThat(lease(late).isValid()).isTrue();
        release(late);
        release(other);
        assertThat(holds(last)).isTrue();
        release(last);
    }

    @Test
    void aWaiterSendsAttemptsForTheNextTurnWhileAnOwnerWorksForLong() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        TestSubscriber<LockLease> late = subscribe(lock.acquire());
        TestSubscriber<LockLease> last = subscribe(lock.acquire());
        release(waiting.get(0));
        release(waiting.get(1));
        assertThat(holds(late)).isTrue();
        TestSubscriber<LockLease> later =
                subscribe(process(store, it -> it).lock(NAME).acquire());
        pass(LEASE);
        release(late);
        release(other);
        assertThat(holds(last)).as("it kept its place at the store").isTrue();
        assertThat(holds(later)).isFalse();
        release(last);
        release(later);
    }

    @Test
    void tryAcquireOvertakesNoTurnWithAPlace() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        TestSubscriber<LockLease> late = subscribe(lock.acquire());
        release(waiting.get(0));
        release(waiting.get(1));
        assertThat(holds(late)).isTrue();
        assertThat(holds(subscribe(lock.tryAcquire()))).isFalse();
        release(late);
        release(other);
    }

    @Test
    void aTurnEndsWithItsTimeLimit() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        pass(Duration.ofMillis(5));
        release(waiting.get(0));
        assertThat(holds(other)).isTrue();
        release(other);
        release(waiting.get(1));
    }

    @Test
    void aCancelledWaiterCostsNoCommandAndTheLastOneGivesUpThePlace() {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = waiters(lock, 3);
        assertThat(commands()).as("one attempt for three").isOne();
        waiting.get(1).cancel();
        waiting.get(2).cancel();
        assertThat(commands()).isOne();
        waiting.get(0).cancel();
        assertThat(faulty.on(Operation.RELEASE).calls()).isOne();
        assertThat(store.contents()).as("the holder and its watch").hasSize(2);
        release(holder);
    }

    @Test
    void thePlaceStaysWhenTheWaiterThatTookItLeaves() {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = waiters(lock, 2);
        TestSubscriber<LockLease> later = subscribe(foreign.acquire());
        waiting.get(0).cancel();
        release(holder);
        assertThat(holds(waiting.get(1))).isTrue();
        assertThat(holds(later)).isFalse();
        release(waiting.get(1));
        release(later);
    }

    @Test
    void tryAcquireOvertakesNoWaiter() {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        TestSubscriber<LockLease> waiting = subscribe(lock.acquire());
        int before = commands();
        assertThat(holds(subscribe(lock.tryAcquire()))).isFalse();
        assertThat(commands()).as("known here").isEqualTo(before);
        release(holder);
        release(waiting);
    }

    @Test
    void aLostTurnHandsNothingOver() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        LockLease lost = lease(waiting.get(0));
        TestSubscriber<LossReason> loss = subscribe(lost.onLoss());
        faulty.on(Operation.RENEW).always(Fault.lostRequest());
        faulty.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest());
        pass(Duration.ofSeconds(3));
        assertThat(loss.getReceivedOnNext()).hasSize(1);
        assertThat(holds(other)).isTrue();
        assertThat(holds(waiting.get(1))).isFalse();
        faulty.heal();
        lastOneFollowsOther(waiting.get(1));
    }

    @Test
    void withoutAnAcknowledgedBlockNothingIsHandedOver() {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = waiters(lock, 2);
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.lostReply());
        release(holder);
        release(waiting.get(0));
        pass(MOMENT);
        long first = lease(waiting.get(0)).fencingToken();
        assertThat(lease(waiting.get(1)).fencingToken()).isGreaterThan(first);
        assertThat(faulty.on(Operation.RELEASE).calls()).isOne();
        release(waiting.get(1));
    }

    @Test
    void aTurnIsReleasedOnceAlthoughItsBlockArrivesLater() {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = waiters(lock, 2);
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(Duration.ofMillis(10)));
        release(holder);
        pass(Duration.ofMillis(6));
        release(waiting.get(0));
        pass(Duration.ofMillis(10));
        assertThat(faulty.on(Operation.RELEASE).calls())
                .as("another request could overtake that of the owner, which would then get a loss")
                .isOne();
        release(waiting.get(1));
    }

    @Test
    void aRequestForTheBlockThatReachesTheStoreLongAfterTheReleaseLeavesNothing() {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = waiters(lock, 2);
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.delayedRequest(Duration.ofSeconds(6)));
        release(holder);
        pass(Duration.ofMillis(6));
        release(waiting.get(0));
        release(waiting.get(1));
        assertThat(store.contents()).isEmpty();
        pass(Duration.ofSeconds(6));
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void aRequestForTheBlockThatReachesTheStoreLateAlthoughTheReleaseWasNotConfirmedLeavesNothing() {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = waiters(lock, 2);
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.delayedRequest(Duration.ofSeconds(6)));
        release(holder);
        pass(Duration.ofMillis(6));
        faulty.on(Operation.RELEASE).next(Fault.delayedReply(Duration.ofSeconds(7)));
        TestSubscriber<Void> released = subscribe(lease(waiting.get(0)).release());
        release(waiting.get(1));
        pass(Duration.ofSeconds(8));
        assertThat(released.isTerminatedComplete()).isTrue();
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void aReleaseWaitsForTheBlockThatTheNextOwnerNeeds() {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = waiters(lock, 2);
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(Duration.ofMillis(3)));
        release(holder);
        TestSubscriber<Void> released = subscribe(lease(waiting.get(0)).release());
        assertThat(holds(waiting.get(1))).isFalse();
        assertThat(released.isTerminated()).isFalse();
        pass(Duration.ofMillis(3));
        assertThat(released.isTerminatedComplete()).isTrue();
        assertThat(lease(waiting.get(1)).fencingToken())
                .isEqualTo(lease(waiting.get(0)).fencingToken() + 1);
        assertThat(faulty.on(Operation.RELEASE).calls()).isZero();
        release(waiting.get(1));
    }

    @Test
    void aLeaseOfAHandOverIsNoLongerThanThatOfTheTurn() {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        ReactiveLock once = lock.with(
                LockOptions.builder().leaseDuration(LEASE).autoRenew(false).build());
        List<TestSubscriber<LockLease>> waiting = waiters(once, 2);
        pass(Duration.ofSeconds(4));
        release(holder);
        pass(MOMENT);
        release(waiting.get(0));
        assertThat(lease(waiting.get(1)).remaining()).isLessThan(LEASE.minusMillis(300));
        release(waiting.get(1));
    }

    @Test
    void aProcessThatPausesInATurnHandsNothingOverAfterwards() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(3);
        release(waiting.get(0));
        TestSubscriber<LossReason> loss = subscribe(lease(waiting.get(1)).onLoss());
        faulty.on(Operation.RENEW).always(Fault.lostRequest());
        pass(Duration.ofSeconds(40));
        faulty.heal();
        assertThat(loss.getReceivedOnNext()).hasSize(1);
        assertThat(holds(other)).isTrue();
        assertThat(holds(waiting.get(2))).isFalse();
        subscribe(lease(waiting.get(1)).release());
        assertThat(holds(waiting.get(2))).as("the other one still has it").isFalse();
        lastOneFollowsOther(waiting.get(2));
    }

    @Test
    void aClaimThatIsDroppedDuringAGrantIsALossOfTheGrantedWaiter() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(3);
        release(waiting.get(0));
        TestSubscriber<LossReason> loss = subscribe(lease(waiting.get(1)).onLoss());
        LockClaim turn = attempts.get(attempts.size() - 1);
        assertThat(subscribe(store.release(turn)).getReceivedOnNext()).containsExactly(Ownership.HELD);
        pass(LEASE.dividedBy(2));
        assertThat(loss.getReceivedOnNext()).hasSize(1);
        assertThat(holds(waiting.get(2))).isFalse();
        lastOneFollowsOther(waiting.get(2));
    }

    @Test
    void aClientThatClosesDuringATurnReleasesTheLockAndEndsAllWaits() {
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        LockClient closing = process(faulty, it -> it);
        List<TestSubscriber<LockLease>> waiting = waiters(closing.lock(NAME), 3);
        otherWaits();
        release(holder);
        assertThat(holds(waiting.get(0))).isTrue();
        TestSubscriber<Void> closed = TestSubscriber.create();
        closing.close().subscribe(closed);
        pass(Duration.ofSeconds(1));
        assertThat(closed.isTerminatedComplete()).isTrue();
        assertThat(waiting.subList(1, 3)).allMatch(TestSubscriber::isTerminatedError);
        assertThat(holds(other)).isTrue();
        release(other);
    }

    @Test
    void aReleaseWhoseReplyIsLostLetsTheNextTurnBeginAndTokensRise() {
        List<TestSubscriber<LockLease>> waiting = turnAheadOfOther(2);
        release(waiting.get(0));
        faulty.on(Operation.RELEASE).next(Fault.lostReply());
        release(waiting.get(1));
        pass(MOMENT);
        assertThat(lease(other).fencingToken())
                .isGreaterThan(lease(waiting.get(1)).fencingToken());
        release(other);
        pass(LEASE);
    }

    @Test
    void tenThousandWaitersCancelledAtOnceLeaveNothing() {
        ReactiveLock many = process(faulty, it -> it).lock(NAME);
        TestSubscriber<LockLease> holder = subscribe(foreign.acquire());
        List<TestSubscriber<LockLease>> waiting = IntStream.range(0, 10_000)
                .mapToObj(i -> {
                    TestSubscriber<LockLease> waiter = TestSubscriber.create();
                    many.acquire().subscribe(waiter);
                    return waiter;
                })
                .toList();
        pass(MOMENT);
        release(holder);
        waiting.forEach(TestSubscriber::cancel);
        waiting.stream().filter(LocalHandOverTest::holds).forEach(this::release);
        pass(MOMENT);
        assertThat(store.contents()).isEmpty();
        assertThat(commands()).as("for ten thousand").isLessThan(10);
    }

    @Test
    void aBackEndWithoutTokenFloorsIsNotDecorated() {
        LockBackend without = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return store;
            }

            @Override
            public Set<LockFeature> features() {
                return Set.of(LockFeature.FIFO);
            }
        };
        assertThat(LocalHandOver.over(without)).isSameAs(without);
    }

    @Test
    void boundsOutOfRangeAreRefused() {
        LocalHandOver.Builder builder = LocalHandOver.builder(store);
        assertThatThrownBy(() -> builder.maxHandOvers(0)).hasMessageContaining("was 0");
        assertThatThrownBy(() -> builder.maxTurnTime(Duration.ZERO)).hasMessageContaining("was PT0S");
    }
}
