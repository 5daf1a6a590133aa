package io.holdfast.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A test controls locks in virtual time. */
class TestLocksTest {

    private static final String NAME = "stock/42";
    private static final LockOptions PATIENT =
            LockOptions.builder().waitTimeout(Duration.ofSeconds(3)).build();

    @RegisterExtension
    final TestLocks locks = TestLocks.virtualTime();

    /** Made before a test begins, like the fields of users. */
    private final LockClient client = locks.client();

    private final AtomicBoolean cancelled = new AtomicBoolean();

    private Mono<String> work(Duration time) {
        return client.lock(NAME)
                .with(PATIENT)
                .withLock(lease -> Mono.delay(time).thenReturn("done").doOnCancel(() -> cancelled.set(true)));
    }

    @Test
    void delaysWithoutASchedulerAreInVirtualTimeAndTheLockIsKept() {
        CompletableFuture<String> result = work(Duration.ofHours(2)).toFuture();

        locks.advance(Duration.ofMinutes(119));
        locks.assertThat(NAME).isHeld().grants(1).waiters(0);
        assertThat(result).isNotDone();

        locks.advance(Duration.ofMinutes(1));
        assertThat(result).isCompletedWithValue("done");
        locks.assertThat(NAME).isFree();
    }

    @Test
    void aRivalKeepsTheCodeOutUntilItReleases() {
        Rival rival = locks.holdElsewhere(NAME);
        CompletableFuture<LockLease> waiting = client.lock(NAME).acquire().toFuture();
        locks.assertThat(NAME).waiters(1).grants(0);
        assertThat(waiting).isNotDone();

        rival.release();
        rival.release();

        assertThat(waiting).isCompleted();
        assertThat(waiting.join().fencingToken()).isGreaterThan(rival.fencingToken());
        assertThat(rival.lockName()).isEqualTo(NAME);
        locks.assertThat(NAME).waiters(0).grants(1);
        locks.await(waiting.join().release());
    }

    @Test
    void aWaitTimesOutInVirtualTime() {
        locks.holdElsewhere(NAME);
        CompletableFuture<String> result = work(Duration.ZERO).toFuture();

        locks.advance(Duration.ofMillis(2_999));
        assertThat(result).isNotDone();
        locks.advance(Duration.ofMillis(1));

        assertThat(result)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(LockTimeoutException.class);
    }

    @Test
    void aRivalHoldsForAnyTimeEvenIfTheBackEndIsUnreachableForTheCode() {
        locks.unavailable();
        locks.holdElsewhere(NAME);
        locks.advance(Duration.ofDays(2));
        locks.available();

        assertThat(client.lock(NAME).tryAcquire().blockOptional()).isEmpty();
    }

    @Test
    void awaitReturnsTheResultOrNullOrThrowsTheError() {
        locks.holdElsewhere(NAME);
        assertThat(locks.await(Mono.delay(Duration.ofMinutes(50)).thenReturn("late")))
                .isEqualTo("late");
        assertThat(locks.await(Mono.delay(Duration.ofSeconds(1)).then())).isNull();
        assertThatThrownBy(() -> locks.await(work(Duration.ZERO))).isInstanceOf(LockTimeoutException.class);
        assertThatThrownBy(() -> locks.await(Mono.error(new IOException("checked"))))
                .hasCauseInstanceOf(IOException.class);
        assertThatThrownBy(() -> locks.await(Mono.delay(Duration.ofHours(2))))
                .isInstanceOf(AssertionError.class)
                .hasMessage(
                        "not ended after PT1H of virtual time; if it works on threads of its own, use TestLocks.realTime()");
    }

    @Test
    void anAwaitWithoutAResultNamesTheLockThatTheCodeWaitsFor() {
        locks.holdElsewhere(NAME);

        assertThatThrownBy(() -> locks.await(client.lock(NAME).acquire()))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith(
                        "not ended after PT1H of virtual time: it waits for lock 'stock/42' (a rival holds it with token ")
                .hasMessageContaining("1 waiter of the code under test");
    }

    @ParameterizedTest
    @EnumSource(value = LossReason.class, names = "CLIENT_CLOSED", mode = EnumSource.Mode.EXCLUDE)
    void aLossInTheMiddleOfTheWorkCancelsIt(LossReason reason) {
        locks.onAcquired(NAME, it -> it.lose(reason));

        CompletableFuture<String> result = work(Duration.ofSeconds(1)).toFuture();

        assertThat(result).failsWithin(Duration.ZERO).withThrowableThat().satisfies(failure -> {
            assertThat(failure).hasCauseInstanceOf(LockLostException.class);
            assertThat(((LockLostException) failure.getCause()).reason()).isEqualTo(reason);
        });
        assertThat(cancelled).isTrue();
        locks.assertThat(NAME).isFree().grants(1);
    }

    @Test
    void aLossWhileTheWorkIsAtItsSecondStep() {
        CompletableFuture<String> result = work(Duration.ofMinutes(1)).toFuture();
        locks.advance(Duration.ofSeconds(30));

        Hold hold = locks.held(NAME);
        assertThat(hold.lockName()).isEqualTo(NAME);
        hold.lose(LossReason.NOT_HELD);

        assertThat(result).isCompletedExceptionally();
        assertThat(cancelled).isTrue();
        assertThatThrownBy(() -> hold.lose(LossReason.NOT_HELD))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "the code under test does not hold lock 'stock/42' with token %d any more: it was released or lost before"
                                .formatted(hold.fencingToken()));
    }

    /** The work has ended when the loss is signalled; the release detects the loss. */
    @Test
    void workThatEndsAtOnceFailsWithTheLossToo() {
        locks.onAcquired(NAME, it -> it.lose(LossReason.NOT_HELD));

        assertThatThrownBy(() -> locks.await(client.lock(NAME).withLock(Mono.just("done"))))
                .isInstanceOf(LockLostException.class);
    }

    /**
     * Its lease is emitted in a task of that scheduler: after a loss before that, it would only send another attempt.
     */
    @Test
    void aClientWithDeliverOnGetsTheLossToo() {
        LockClient elsewhere = locks.client(it -> it.deliverOn(locks.scheduler()));
        AtomicInteger grants = new AtomicInteger();
        locks.onAcquired(NAME, it -> {
            if (grants.incrementAndGet() == 1) {
                it.lose(LossReason.NOT_HELD);
            }
        });

        Mono<Long> work = Mono.<Long>never().doOnCancel(() -> cancelled.set(true));
        Mono<Long> inATask = Mono.delay(Duration.ofSeconds(1))
                .then(elsewhere.lock(NAME).withLock(work).timeout(Duration.ofSeconds(5)));
        assertThatThrownBy(() -> locks.await(inATask)).isInstanceOf(LockLostException.class);
        assertThat(cancelled).isTrue();
        locks.assertThat(NAME).grants(1).isFree();
    }

    @Test
    void aGrantAfterAWaitIsLostToo() {
        locks.onAcquired(NAME, it -> it.lose(LossReason.NOT_HELD));
        Rival rival = locks.holdElsewhere(NAME);
        CompletableFuture<String> result = work(Duration.ofSeconds(1)).toFuture();

        rival.release();

        assertThat(result).isCompletedExceptionally();
        locks.assertThat(NAME).grants(1).isFree();
    }

    @Test
    void clientClosedIsNoReasonForAHoldToBeLost() {
        LockLease lease = locks.await(client.lock(NAME).acquire());
        assertThatThrownBy(() -> locks.held(NAME).lose(LossReason.CLIENT_CLOSED))
                .isInstanceOf(IllegalArgumentException.class);
        locks.await(lease.release());
    }

    /** Tests the user's fencing: the frozen holder believes that it owns the lock for as long as it works. */
    @Test
    void aFrozenHolderWorksOnUnderAnOldTokenWhileARivalHoldsTheLock() {
        List<LockLease> leases = new ArrayList<>();
        CompletableFuture<String> result = client.lock(NAME)
                .withLock(lease -> {
                    leases.add(lease);
                    return Mono.delay(Duration.ofHours(1)).thenReturn("written");
                })
                .toFuture();
        locks.held(NAME).freeze();
        locks.held(NAME).freeze();
        locks.assertThat(NAME).isFree();

        Rival rival = locks.holdElsewhere(NAME);
        locks.advance(Duration.ofMinutes(59));

        assertThat(leases.get(0).isValid()).isTrue();
        assertThat(rival.fencingToken()).isGreaterThan(leases.get(0).fencingToken());
        locks.advance(Duration.ofMinutes(1));
        assertThat(result).failsWithin(Duration.ZERO).withThrowableThat().withCauseInstanceOf(LockLostException.class);
        rival.release();
        locks.assertThat(NAME).isFree();
    }

    @Test
    void theNextWaiterOfTheCodeFollowsAFrozenOne() {
        CompletableFuture<String> zombie = work(Duration.ofSeconds(10)).toFuture();
        CompletableFuture<String> next = work(Duration.ofSeconds(1)).toFuture();

        locks.held(NAME).freeze();
        locks.advance(Duration.ofSeconds(1));

        assertThat(next).isCompletedWithValue("done");
        assertThat(zombie).isNotDone();
        locks.advance(Duration.ofSeconds(9));
        assertThat(zombie).isCompletedExceptionally();
        locks.assertThat(NAME).grants(2);
    }

    @Test
    void aFrozenHolderDetectsItsLossAtItsRelease() {
        CompletableFuture<String> result = work(Duration.ofSeconds(10)).toFuture();
        Hold hold = locks.held(NAME);
        hold.freeze();
        hold.lose(LossReason.EXPIRED);

        assertThat(result).isCompletedExceptionally();
        assertThat(cancelled).isTrue();
    }

    @Test
    void aCallbackRunsBeforeTheWorkOnceForEachGrant() {
        List<String> order = new ArrayList<>();
        locks.onAcquired(NAME, it -> order.add("granted " + it.lockName()));
        Mono<String> work = client.lock(NAME).withLock(Mono.fromCallable(() -> {
            order.add("work");
            return "done";
        }));

        locks.await(work);
        locks.await(work);

        assertThat(order).containsExactly("granted stock/42", "work", "granted stock/42", "work");
    }

    @Test
    void anUnreachableBackEndFailsRequestsAndTheLeaseExpires() {
        CompletableFuture<String> result = work(Duration.ofMinutes(10)).toFuture();
        locks.unavailable();

        assertThatThrownBy(() -> locks.await(client.lock("other").tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("no lock server answers: the test has called TestLocks.unavailable()");
        assertThatThrownBy(() -> locks.await(client.ping())).isInstanceOf(LockBackendException.class);
        locks.advance(LockOptions.defaults().leaseDuration());

        assertThat(result).failsWithin(Duration.ZERO).withThrowableThat().withCauseInstanceOf(LockLostException.class);
    }

    @Test
    void aWaiterSurvivesAShortOutageAndFindsAGrantOfThatTime() {
        CompletableFuture<String> holder = work(Duration.ofSeconds(1)).toFuture();
        CompletableFuture<LockLease> waiter = client.lock(NAME).acquire().toFuture();
        locks.unavailable();
        locks.advance(Duration.ofSeconds(2)); // the release is repeated
        assertThat(waiter).isNotDone();

        locks.available();
        locks.advance(Duration.ofSeconds(2));

        assertThat(holder).isCompletedWithValue("done");
        assertThat(waiter).isCompleted();
        locks.await(client.ping());
        locks.await(waiter.join().release());
    }

    @Test
    void aGrantDoesNotArriveWhileTheBackEndIsUnreachable() {
        Rival rival = locks.holdElsewhere(NAME);
        CompletableFuture<LockLease> waiter = client.lock(NAME).acquire().toFuture();
        locks.unavailable();
        rival.release();
        assertThat(waiter).isNotDone();

        locks.available();

        assertThat(waiter).isCompleted();
        locks.await(waiter.join().release());
    }

    @Test
    void slowAnswersTakeTheirTime() {
        locks.answersAfter(Duration.ofMillis(500));
        CompletableFuture<LockLease> acquired = client.lock(NAME).acquire().toFuture();

        locks.advance(Duration.ofMillis(499));
        assertThat(acquired).isNotDone();
        locks.advance(Duration.ofMillis(1));
        assertThat(acquired).isCompleted();

        locks.answersAfter(Duration.ZERO);
        locks.await(acquired.join().release());
    }

    @Test
    void aLateAnswerIsUnknownAndTheLockIsReleased() {
        locks.answersAfter(Duration.ofSeconds(30));

        assertThatThrownBy(() -> locks.await(client.lock(NAME).tryAcquire())).isInstanceOf(LockBackendException.class);

        locks.assertThat(NAME).grants(0).isFree();
    }

    @Test
    void readersAndWritersElsewhere() {
        Rival reader = locks.readElsewhere(NAME);
        Rival second = locks.readElsewhere(NAME);
        assertThat(locks.await(client.readWriteLock(NAME).writeLock().tryAcquire()))
                .isNull();
        LockLease mine = locks.await(client.readWriteLock(NAME).readLock().tryAcquire());
        locks.await(mine.release());
        reader.release();
        second.release();

        Rival writer = locks.writeElsewhere(NAME);
        assertThat(locks.await(client.readWriteLock(NAME).readLock().tryAcquire()))
                .isNull();
        writer.release();
        LockLease write = locks.await(client.readWriteLock(NAME).writeLock().acquire());
        LockLease read = locks.await(write.downgrade());
        locks.assertThat(NAME).isHeld().grants(2);
        locks.await(read.release());
    }

    @Test
    void permitsElsewhere() {
        Rival rival = locks.permitsElsewhere("pool", 3, 2);
        LockLease mine = locks.await(client.semaphore("pool", 3).acquire());
        assertThat(locks.await(client.semaphore("pool", 3).tryAcquire())).isNull();
        assertThatThrownBy(() -> locks.permitsElsewhere("pool", 3, 1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("a rival holds it with token %d, the code under test holds it with token %d"
                        .formatted(rival.fencingToken(), mine.fencingToken()));
        rival.release();
        LockLease other = locks.await(client.semaphore("pool", 3).tryAcquire());
        assertThatThrownBy(() -> locks.held("pool"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("the code under test has 2 holds of lock 'pool', where one is needed");
        locks.await(mine.release());
        locks.await(other.release());
    }

    @Test
    void oneOfSeveralLocksElsewhere() {
        Rival rival = locks.holdElsewhere("b");
        AtomicInteger runs = new AtomicInteger();
        CompletableFuture<Integer> all = client.all(client.lock("a"), client.lock("b"))
                .withLock(lease -> Mono.fromCallable(runs::incrementAndGet))
                .toFuture();
        assertThat(all).isNotDone();

        rival.release();
        locks.advance(Duration.ofSeconds(1));

        assertThat(all).isCompletedWithValue(1);
        locks.assertThat("a").isFree();
        locks.assertThat("b").isFree().grants(1);
    }

    @Test
    void aRivalLeadsAndThenTheCodeDoes() {
        Rival leader = locks.holdElsewhere("leader");
        AtomicInteger terms = new AtomicInteger();
        Disposable candidate = client.election("leader")
                .lead(lease -> Mono.fromRunnable(terms::incrementAndGet).then(Mono.never()))
                .subscribe();
        locks.advance(Duration.ofMinutes(1));
        assertThat(terms).hasValue(0);

        leader.release();
        assertThat(terms).hasValue(1);
        locks.held("leader").lose(LossReason.NOT_HELD);
        locks.advance(Duration.ofMinutes(1));
        assertThat(terms).hasValue(2); // it stood again

        candidate.dispose();
        locks.assertThat("leader").isFree().grants(2);
    }

    @Test
    void twoInstancesOfTheCode() {
        LockClient second = locks.client(builder -> builder.options(PATIENT));
        LockLease first = locks.await(client.lock(NAME).acquire());

        assertThatThrownBy(() -> locks.await(second.lock(NAME).acquire())).isInstanceOf(LockTimeoutException.class);

        locks.await(first.release());
        locks.await(second.lock(NAME).withLock(Mono.just("second")));
        locks.assertThat(NAME).grants(2);
    }

    @Test
    void aReleaseWithinTheLeastHoldTimeLeavesNothingBehind() {
        LockOptions once =
                LockOptions.builder().minHoldTime(Duration.ofMinutes(5)).build();
        locks.await(client.lock("nightly").with(once).withLock(Mono.just("done")));

        locks.assertThat("nightly").isHeld(); // until the five minutes are over
    }

    @Test
    void aLeaseIsHandedOnInTimeOrLost() {
        LockClient second = locks.client(builder -> builder);
        LockLease adopted = locks.await(
                client.lock(NAME).acquire().flatMap(LockLease::export).flatMap(second::adopt));
        locks.assertThat(NAME).isHeld().grants(1);
        locks.await(adopted.release());

        String text = locks.await(client.lock("late").acquire().flatMap(LockLease::export));
        locks.advance(LockOptions.defaults().leaseDuration());
        assertThatThrownBy(() -> locks.await(second.adopt(text))).isInstanceOf(LockLostException.class);
    }

    /** The end of the test finds nothing. */
    @Test
    void aLeaseThatIsHandedOnAndNotAdoptedIsFreeInTime() {
        String unused = locks.await(client.lock(NAME).acquire().flatMap(LockLease::export));
        locks.assertThat(NAME).isHeld();
        locks.advance(LockOptions.defaults().leaseDuration());
        locks.assertThat(NAME).isFree();
    }

    @Test
    void locksWorkWithoutJUnit() {
        TestLocks own = TestLocks.virtualTime(); // no extension
        Rival rival = own.holdElsewhere(NAME);
        CompletableFuture<String> waiting =
                own.client().lock(NAME).withLock(Mono.just("done")).toFuture();
        own.advance(Duration.ofSeconds(1));
        assertThat(waiting).isNotDone();

        rival.release();
        own.advance(Duration.ZERO);

        assertThat(waiting).isCompletedWithValue("done");
        own.assertThat(NAME).isFree().grants(1);
        own.await(own.client().close());
    }

    @Test
    void timeDoesNotGoBack() {
        assertThatThrownBy(() -> locks.advance(Duration.ofMillis(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> locks.answersAfter(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
