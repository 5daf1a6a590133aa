package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.NAME;
import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LocalHandOver;
import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/** A client that drains gives no more locks, and lets its holders finish. */
class DrainTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    @RegisterExtension
    final World world = new World();

    private static void endedByTheDrain(TestSubscriber<?> acquiring) {
        assertThat(acquiring.getReceivedOnNext()).isEmpty();
        assertThat(acquiring.expectTerminalError())
                .isInstanceOf(LockClosedException.class)
                .hasMessageContaining("is being drained")
                .hasMessageContaining("ask another instance");
    }

    private boolean isFree(String name) {
        TestSubscriber<LockLease> attempt =
                world.subscribe(world.rival.lock(name).tryAcquire());
        attempt.getReceivedOnNext().forEach(lease -> world.subscribe(lease.release()));
        return !attempt.getReceivedOnNext().isEmpty();
    }

    @Test
    void drainingBeginsAtTheCallAndNotAtTheSubscription() {
        LockLease held = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(world.lock().acquire());

        Mono<Void> ignored = world.client.drain();

        endedByTheDrain(waiter);
        assertThat(world.subscribe(ignored).isTerminatedComplete()).isTrue();
        world.subscribe(held.release());
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aClientWithoutLeasesIsDrainedAtOnceAndGivesNoLock() {
        String text = world.only(world.subscribe(
                world.granted(world.rival.lock("handed on").acquire()).export()));
        assertThat(world.subscribe(world.client.drain()).isTerminatedComplete()).isTrue();
        int sent = world.on(Operation.TRY_ACQUIRE).calls();

        Stream.of(
                        world.lock().acquire(),
                        world.lock().tryAcquire(),
                        world.lock(options -> options.waitTimeout(Duration.ZERO))
                                .acquire(),
                        world.lock().withLock(Mono.just(1)),
                        world.client.readWriteLock("prices").readLock().acquire(),
                        world.client.semaphore("printers", 3).tryAcquire(),
                        world.client.all(world.lock(), world.client.lock("b")).acquire(),
                        world.client.all(world.lock(), world.client.lock("b")).tryAcquire(),
                        world.client
                                .election("leader")
                                .lead(lease -> Mono.just(1))
                                .next(),
                        world.client.adopt(text))
                .forEach(acquiring -> endedByTheDrain(world.subscribe(acquiring)));

        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(sent);
        assertThat(world.on(Operation.RENEW).calls()).isZero();
        LockLease adopted = world.granted(world.rival.adopt(text)); // the refused text is still good
        world.subscribe(adopted.release());
    }

    @Test
    void drainingIsIdempotentAndCancellingItsResultChangesNothing() {
        LockLease lease = world.granted(world.lock().acquire());
        world.subscribe(world.client.drain()).cancel();
        TestSubscriber<Void> first = world.subscribe(world.client.drain());
        TestSubscriber<Void> second = world.subscribe(world.client.drain());
        assertThat(first.isTerminated()).isFalse();
        assertThat(lease.isValid()).isTrue();

        world.subscribe(lease.release());

        assertThat(first.isTerminatedComplete()).isTrue();
        assertThat(second.isTerminatedComplete()).isTrue();
        assertThat(world.subscribe(world.client.drain()).isTerminatedComplete()).isTrue();
    }

    @Test
    void waitersEndAtOnceAndLeaveNoPlaceInTheQueue() {
        LockLease held = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> waiters = IntStream.range(0, 100)
                .mapToObj(i -> world.subscribe(world.lock().acquire()))
                .toList();

        Mono<Void> drained = world.client.drain();

        waiters.forEach(DrainTest::endedByTheDrain);
        assertThat(world.events(LockEvent.AcquireFailed.class))
                .hasSize(100)
                .allMatch(event -> event.error() instanceof LockClosedException);
        assertThat(world.subscribe(drained).isTerminatedComplete()).isTrue();
        world.subscribe(held.release());
        assertThat(isFree(NAME)).isTrue();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void leasesGoOnUntilTheyAreReleased() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        world.pass(LEASE.multipliedBy(3)); // renewed
        assertThat(lease.isValid()).isTrue();
        assertThat(isFree(NAME)).isFalse();
        assertThat(world.subscribe(lease.renew()).isTerminatedComplete()).isTrue();
        assertThat(drained.isTerminated()).isFalse();
        assertThat(world.client.report().holdCount()).isOne();
        assertThat(world.subscribe(world.client.ping()).isTerminatedComplete()).isTrue();

        world.subscribe(lease.release());

        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(loss.getReceivedOnNext()).isEmpty();
        assertThat(isFree(NAME)).isTrue();
    }

    @Test
    void theWorkOfAHolderEndsInOrder() {
        Sinks.One<String> work = Sinks.one();
        TestSubscriber<String> working = world.subscribe(world.lock().withLock(work.asMono()));
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());
        world.pass(LEASE.multipliedBy(2));

        work.emitValue("done", Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(world.only(working)).isEqualTo("done");
        assertThat(drained.isTerminatedComplete()).isTrue();
    }

    @Test
    void theDrainEndsWhenTheReleaseIsConfirmed() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());
        world.on(Operation.RELEASE).next(Fault.delayedReply(SECOND));
        world.subscribe(lease.release());
        assertThat(drained.isTerminated()).isFalse();

        world.pass(SECOND);

        assertThat(drained.isTerminatedComplete()).isTrue();
    }

    @Test
    void aLostLeaseSignalsItsLossAndDoesNotHoldUpTheDrain() {
        TestSubscriber<Object> working = world.subscribe(world.lock().withLock(Mono.never()));
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        world.takeAway(NAME);
        world.pass(LEASE);

        assertThat(working.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(drained.isTerminatedComplete()).isTrue();
    }

    @Test
    void aLeaseIsExportedWhileItsClientDrains() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        String text = world.only(world.subscribe(lease.export()));

        assertThat(drained.isTerminatedComplete()).isTrue();
        world.subscribe(world.granted(world.rival.adopt(text)).release());
    }

    @Test
    void aWriterBecomesAReaderWhileItsClientDrains() {
        LockLease writer =
                world.granted(world.client.readWriteLock(NAME).writeLock().acquire());
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        LockLease reader = world.granted(writer.downgrade());
        world.pass(LEASE.multipliedBy(2));
        assertThat(reader.isValid()).isTrue();
        assertThat(drained.isTerminated()).isFalse();
        world.subscribe(reader.release());

        assertThat(drained.isTerminatedComplete()).isTrue();
    }

    @Test
    void theWorkOfAHolderMayTakeItsLockAgain() {
        Sinks.Empty<Void> step = Sinks.empty();
        TestSubscriber<String> working = world.subscribe(world.lock()
                .withLock(step.asMono().then(world.lock().withLock(nested -> Mono.just("nested")))));
        world.subscribe(world.client.drain());

        step.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(world.only(working)).isEqualTo("nested");
    }

    @Test
    void theWorkOfAHolderMayTakeOtherLocksAndWaitForThem() {
        LockLease busy = world.granted(world.rival.lock("b").acquire());
        TestSubscriber<String> waitsAlready =
                world.subscribe(world.lock().withLock(world.client.lock("b").withLock(Mono.just("b"))));
        Sinks.Empty<Void> step = Sinks.empty();
        TestSubscriber<String> waitsLater = world.subscribe(world.client
                .lock("c")
                .withLock(step.asMono()
                        .then(world.client
                                .all(world.client.lock("b"), world.client.lock("d"))
                                .withLock(Mono.just("b and d")))));
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());
        step.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
        world.pass(SECOND);
        assertThat(waitsAlready.isTerminated()).isFalse();
        assertThat(waitsLater.isTerminated()).isFalse();
        assertThat(drained.isTerminated()).isFalse();

        world.subscribe(busy.release());
        world.pass(SECOND);

        assertThat(world.only(waitsAlready)).isEqualTo("b");
        assertThat(world.only(waitsLater)).isEqualTo("b and d");
        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(world.store.contents()).isEmpty();
    }

    /** The privilege of its work ends with the lease. */
    @Test
    void nothingIsAcquiredUnderALeaseThatWasLost() {
        Sinks.Empty<Void> step = Sinks.empty();
        List<TestSubscriber<LockLease>> inside = new ArrayList<>();
        world.subscribe(world.lock().withLock(Mono.deferContextual(context -> {
            Mono<LockLease> other = world.client.lock("b").acquire().contextWrite(context);
            return step.asMono().doFinally(end -> inside.add(world.subscribe(other)));
        })));
        world.subscribe(world.client.drain());

        world.takeAway(NAME);
        world.pass(LEASE); // cancels the work

        endedByTheDrain(inside.get(0));
    }

    private Sinks.Empty<Void> workThatLeavesBehind(Mono<?> acquiring, TestSubscriber<Object> waiter) {
        Sinks.Empty<Void> work = Sinks.empty();
        world.subscribe(world.lock().withLock(Mono.deferContextual(context -> {
            acquiring.cast(Object.class).contextWrite(context).subscribe(waiter);
            return work.asMono();
        })));
        return work;
    }

    @Test
    void waiterThatOutlivesItsWorkDoesNotKeepADrainFromEnding() {
        LockLease busy = world.granted(world.rival.lock("b").acquire());
        TestSubscriber<Object> waiter = TestSubscriber.create();
        Sinks.Empty<Void> work = workThatLeavesBehind(world.client.lock("b").acquire(), waiter);
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());
        assertThat(waiter.isTerminated()).isFalse();

        work.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);

        endedByTheDrain(waiter);
        assertThat(drained.isTerminatedComplete()).isTrue();
        world.subscribe(busy.release());
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void waiterThatOutlivesTheLossOfItsLeaseDoesNotKeepADrainFromEnding() {
        LockLease busy = world.granted(world.rival.lock("b").acquire());
        TestSubscriber<Object> waiter = TestSubscriber.create();
        workThatLeavesBehind(world.client.lock("b").acquire(), waiter);
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        world.takeAway(NAME);
        world.pass(LEASE);

        endedByTheDrain(waiter);
        assertThat(drained.isTerminatedComplete()).isTrue();
        world.subscribe(busy.release());
    }

    @Test
    void waiterThatIsGrantedWhileTheLeaseOfItsWorkEndsGetsNoLease() {
        LockLease busy = world.granted(world.rival.lock("b").acquire());
        TestSubscriber<Object> waiter = TestSubscriber.create();
        Sinks.Empty<Void> work = workThatLeavesBehind(world.client.lock("b").acquire(), waiter);
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());
        world.on(Operation.RELEASE).next(Fault.delayedReply(SECOND));
        work.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
        assertThat(drained.isTerminated()).isFalse();

        world.subscribe(busy.release());
        world.pass(SECOND);

        endedByTheDrain(waiter);
        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(isFree("b")).isTrue();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void severalLocksThatOutliveTheirWorkAreAllGivenBack() {
        LockLease busy = world.granted(world.rival.lock("b").acquire());
        TestSubscriber<Object> waiter = TestSubscriber.create();
        Sinks.Empty<Void> work = workThatLeavesBehind(
                world.client
                        .all(world.client.lock("a"), world.client.lock("b"), world.client.lock("c"))
                        .acquire(),
                waiter);
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());
        assertThat(isFree("a")).isFalse();

        work.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);

        endedByTheDrain(waiter);
        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(isFree("a")).isTrue();
        world.subscribe(busy.release());
        assertThat(world.store.contents()).isEmpty();
    }

    /** The lease of a work within it has ended, but the outer one is held. */
    @Test
    void waiterThatOutlivesTheInnerOfTwoLeasesGoesOn() {
        LockLease busy = world.granted(world.rival.lock("b").acquire());
        TestSubscriber<Object> waiter = TestSubscriber.create();
        Sinks.Empty<Void> outer = Sinks.empty();
        world.subscribe(world.client
                .lock("outer")
                .withLock(world.lock()
                        .withLock(Mono.deferContextual(context -> {
                            world.client
                                    .lock("b")
                                    .acquire()
                                    .cast(Object.class)
                                    .contextWrite(context)
                                    .subscribe(waiter);
                            return Mono.empty();
                        }))
                        .then(outer.asMono())));
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        world.subscribe(busy.release());
        world.pass(SECOND);

        world.subscribe(((LockLease) world.only(waiter)).release());
        assertThat(drained.isTerminated()).isFalse();
        outer.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
        assertThat(drained.isTerminatedComplete()).isTrue();
    }

    @Test
    void severalLocksOfWhichOneIsMissingAreAllGivenBack() {
        LockLease busy = world.granted(world.rival.lock("b").acquire());
        TestSubscriber<MultiLease> acquiring = world.subscribe(world.client
                .all(world.client.lock("a"), world.client.lock("b"), world.client.lock("c"))
                .acquire());
        assertThat(isFree("a")).isFalse();

        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        endedByTheDrain(acquiring);
        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(isFree("a")).isTrue();
        world.subscribe(busy.release());
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void severalLocksThatAreHeldGoOn() {
        TestSubscriber<MultiLease> acquired = world.subscribe(
                world.client.all(world.client.lock("a"), world.client.lock("b")).acquire());
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());
        world.pass(LEASE.multipliedBy(2));
        assertThat(world.only(acquired).isValid()).isTrue();
        assertThat(drained.isTerminated()).isFalse();

        world.subscribe(world.only(acquired).release());

        assertThat(drained.isTerminatedComplete()).isTrue();
    }

    @Test
    void theTermOfALeaderGoesOnAndOtherCandidatesEnd() {
        Sinks.Empty<Integer> term = Sinks.empty();
        TestSubscriber<Integer> leader = TestSubscriber.create();
        world.client.election(NAME).lead(lease -> term.asMono()).subscribe(leader);
        TestSubscriber<Integer> candidate = TestSubscriber.create();
        world.client.election(NAME).lead(lease -> Mono.just(2)).subscribe(candidate);
        world.pass(SECOND);

        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        endedByTheDrain(candidate);
        world.pass(LEASE.multipliedBy(2));
        assertThat(leader.isTerminated()).isFalse();
        assertThat(world.only(world.subscribe(world.client.election(NAME).leader())))
                .isNotNull();
        term.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
        assertThat(leader.isTerminatedComplete()).isTrue();
        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(isFree(NAME)).isTrue();
    }

    @Test
    void aLeaderThatLosesItsTermDoesNotStandAgain() {
        TestSubscriber<Object> leader = TestSubscriber.create();
        world.client.election(NAME).lead(lease -> Flux.never()).subscribe(leader);
        world.pass(SECOND);
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        world.takeAway(NAME);
        world.pass(LEASE);

        endedByTheDrain(leader);
        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(isFree(NAME)).isTrue();
    }

    @Test
    void anAdoptionUnderWayEndsAndItsLockIsFree() {
        String text = world.only(
                world.subscribe(world.granted(world.rivalLock().acquire()).export()));
        world.on(Operation.RENEW).next(Fault.delayedReply(SECOND));
        TestSubscriber<LockLease> adopting = world.subscribe(world.client.adopt(text));

        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        endedByTheDrain(adopting);
        assertThat(drained.isTerminated()).isFalse();
        world.pass(SECOND);
        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(isFree(NAME)).isTrue();
    }

    @Test
    void aGrantThatIsOnItsWayIsWithdrawn() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(SECOND));
        TestSubscriber<LockLease> acquiring = world.subscribe(world.lock().acquire());

        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        endedByTheDrain(acquiring);
        assertThat(isFree(NAME)).isFalse();
        world.pass(SECOND);
        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(isFree(NAME)).isTrue();
    }

    @Test
    void closingWhileTheClientDrainsEndsTheDrain() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        assertThat(world.subscribe(world.client.close()).isTerminatedComplete()).isTrue();

        assertThat(loss.getReceivedOnNext()).containsExactly(LossReason.CLIENT_CLOSED);
        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(world.subscribe(world.lock().acquire()).expectTerminalError())
                .isInstanceOf(LockClosedException.class)
                .hasMessageContaining("was closed");
    }

    @Test
    void aClosedClientIsDrained() {
        world.granted(world.lock().acquire());
        world.on(Operation.RELEASE).always(Fault.lostRequest().silently());
        world.subscribe(world.client.close());
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        world.pass(OPERATION_TIMEOUT);

        assertThat(drained.isTerminatedComplete()).isTrue();
        world.pass(LEASE);
    }

    @Test
    void closingEndsTheDrainAlsoIfTheBackEndDoesNotAnswerTheRelease() {
        LockLease lease = world.granted(world.lock().acquire());
        world.on(Operation.RELEASE).always(Fault.lostRequest().silently());
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());
        world.subscribe(lease.release());
        world.pass(SECOND);
        assertThat(drained.isTerminated()).isFalse();

        world.subscribe(world.client.close());
        world.pass(OPERATION_TIMEOUT);

        assertThat(drained.isTerminatedComplete()).isTrue();
        world.pass(LEASE);
    }

    @Test
    void waitersOfABackEndThatHangsEndAtOnceAndTheDrainWithinAnOperationTimeout() {
        for (Operation operation : Operation.values()) {
            world.on(operation).always(Fault.lostRequest().silently());
        }
        TestSubscriber<LockLease> waiter = world.subscribe(world.lock().acquire());

        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        endedByTheDrain(waiter);
        assertThat(drained.isTerminated()).isFalse();
        world.pass(OPERATION_TIMEOUT);
        assertThat(drained.isTerminatedComplete()).isTrue();
    }

    @Test
    void aLeaseOfABackEndThatHangsEndsWithItsDurationAndSoDoesTheDrain() {
        TestSubscriber<Object> working = world.subscribe(world.lock().withLock(Mono.never()));
        for (Operation operation : Operation.values()) {
            world.on(operation).always(Fault.lostRequest().silently());
        }
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());
        world.pass(LEASE.minus(SECOND));
        assertThat(drained.isTerminated()).isFalse();

        world.pass(SECOND);

        assertThat(working.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(drained.isTerminatedComplete()).isTrue();
        world.pass(LEASE);
    }

    @Test
    void aLeastHoldTimeGoesOnInTheStoreAndNotInTheDrain() {
        LockLease lease =
                world.granted(world.lock(options -> options.minHoldTime(SECOND)).acquire());
        TestSubscriber<Void> drained = world.subscribe(world.client.drain());

        world.subscribe(lease.release());

        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(isFree(NAME)).isFalse();
        world.pass(SECOND);
        assertThat(isFree(NAME)).isTrue();
    }

    @Test
    void oneClientOfALocalHandOverDrainsAndTheOtherIsServed() {
        LockBackend shared =
                LocalHandOver.builder(world.faulty).timer(world.clock).build();
        LockClient leaving = LockClient.builder(shared)
                .timer(world.clock)
                .closeBackend(false)
                .build();
        LockClient staying = LockClient.builder(shared)
                .timer(world.clock)
                .closeBackend(false)
                .build();
        ReactiveLock lock = leaving.lock(NAME);
        LockLease held = world.granted(lock.acquire());
        List<TestSubscriber<LockLease>> waiters = IntStream.range(0, 10)
                .mapToObj(i -> world.subscribe(lock.acquire()))
                .toList();
        TestSubscriber<LockLease> other = world.subscribe(staying.lock(NAME).acquire());

        TestSubscriber<Void> drained = world.subscribe(leaving.drain());

        waiters.forEach(DrainTest::endedByTheDrain);
        assertThat(held.isValid()).isTrue();
        world.subscribe(held.release());
        world.pass(SECOND);
        assertThat(drained.isTerminatedComplete()).isTrue();
        assertThat(world.only(other).fencingToken()).isGreaterThan(held.fencingToken());
        world.subscribe(leaving.close());
        assertThat(world.only(other).isValid()).isTrue();
        world.subscribe(world.only(other).release());
        world.subscribe(staying.close());
        world.pass(OPERATION_TIMEOUT);
    }

    /** Each acquisition gives a lease that the subscriber has, or an error; the store has nothing else. */
    @Test
    void drainingAtAThousandInstantsLeaksNothing() {
        Random random = new Random(73);
        for (int round = 0; round < 1_000; round++) {
            World own = new World();
            VirtualTimeScheduler clock = own.clock;
            own.faulty
                    .on(Operation.TRY_ACQUIRE)
                    .next(
                            Fault.delayedReply(Duration.ofMillis(random.nextInt(30))),
                            Fault.delayedRequest(Duration.ofMillis(random.nextInt(30))));
            List<TestSubscriber<LockLease>> acquiring = new ArrayList<>();
            for (String name : List.of("a", "a", "b")) {
                TestSubscriber<LockLease> subscriber = TestSubscriber.create();
                own.client.lock(name).with(LockOptions.defaults()).acquire().subscribe(subscriber);
                acquiring.add(subscriber);
            }
            TestSubscriber<LockLease> rival = TestSubscriber.create();
            own.rival.lock("a").acquire().subscribe(rival);
            clock.advanceTimeBy(Duration.ofMillis(random.nextInt(40)));
            TestSubscriber<Void> drained = TestSubscriber.create();
            own.client.drain().subscribe(drained);
            clock.advanceTimeBy(SECOND);

            for (TestSubscriber<LockLease> each : acquiring) {
                boolean isOver = each.isTerminated();
                assertThat(isOver).as("round %d", round).isTrue();
                each.getReceivedOnNext().forEach(lease -> lease.release().subscribe());
            }
            rival.getReceivedOnNext().forEach(lease -> lease.release().subscribe());
            clock.advanceTimeBy(LEASE);
            rival.getReceivedOnNext().forEach(lease -> lease.release().subscribe());
            clock.advanceTimeBy(SECOND);
            assertThat(drained.isTerminatedComplete()).as("round %d", round).isTrue();
            assertThat(rival.getReceivedOnNext()).as("round %d", round).hasSize(1);
            own.afterEach(null);
        }
    }
}
