package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

class WithLockTest {

    @RegisterExtension
    final World world = new World();

    @Test
    void theResultOfTheWorkMayBeASubtype() {
        Mono<String> sold = Mono.just("sold");
        Mono<CharSequence> one = world.lock().withLock(sold);
        Mono<CharSequence> another = world.lock().withLock(lease -> sold);
        Flux<CharSequence> many = world.lock().withLockMany(lease -> sold);

        assertThat(world.subscribe(one.concatWith(another).concatWith(many).collectList())
                        .getReceivedOnNext())
                .containsExactly(List.of("sold", "sold", "sold"));
    }

    @Test
    void theResultIsPassedOnAfterTheRelease() {
        world.on(Operation.RELEASE).next(Fault.delayedReply(Duration.ofMillis(100)));
        TestSubscriber<String> result = world.subscribe(world.lock().withLock(Mono.just("sold")));
        assertThat(result.getReceivedOnNext()).isEmpty();

        world.pass(Duration.ofMillis(100));

        assertThat(result.getReceivedOnNext()).containsExactly("sold");
        assertThat(result.isTerminatedComplete()).isTrue();
        assertThat(world.store.contents()).isEmpty();
        assertThat(world.events(LockEvent.Released.class)).hasSize(1);
    }

    @Test
    void theWorkIsNotSubscribedToBeforeTheLockIsHeld() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        AtomicBoolean working = new AtomicBoolean();
        TestSubscriber<Object> result =
                world.subscribe(world.lock().withLock(Mono.fromRunnable(() -> working.set(true))));
        assertThat(working).isFalse();

        world.subscribe(holder.release());

        assertThat(working).isTrue();
        assertThat(result.isTerminatedComplete()).isTrue();
    }

    @Test
    void theErrorOfTheWorkStaysTheErrorAndTheLockIsReleased() {
        RuntimeException soldOut = new IllegalStateException("sold out");
        TestSubscriber<Object> result = world.subscribe(world.lock().withLock(Mono.error(soldOut)));

        assertThat(result.expectTerminalError()).isSameAs(soldOut).hasNoSuppressedExceptions();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void workThatThrowsWhenItIsMadeIsAnErrorOfTheWork() {
        RuntimeException broken = new IllegalStateException("broken");
        Function<LockLease, Mono<String>> throwing = lease -> {
            throw broken;
        };

        assertThat(world.subscribe(world.lock().withLock(throwing)).expectTerminalError())
                .isSameAs(broken);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void anErrorOfTheReleaseIsAddedToTheErrorOfTheWork() {
        RuntimeException soldOut = new IllegalStateException("sold out");
        TestSubscriber<Object> result = world.subscribe(world.lock().withLock(lease -> {
            world.takeAway(World.NAME);
            return Mono.error(soldOut);
        }));

        assertThat(result.expectTerminalError()).isSameAs(soldOut);
        assertThat(soldOut.getSuppressed()).hasSize(1).allMatch(LockLostException.class::isInstance);
    }

    @Test
    void cancellingTheWorkReleasesTheLock() {
        TestPublisher<String> work = TestPublisher.create();
        TestSubscriber<String> result = world.subscribe(world.lock().withLock(work.mono()));
        work.assertSubscribers(1);

        result.cancel();

        work.assertCancelled();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void cancellingDuringTheStartOfTheWorkReleasesTheLockAfterTheStart() {
        AtomicBoolean stillHeld = new AtomicBoolean();
        TestSubscriber<String> result = TestSubscriber.create();
        world.lock()
                .withLock(Mono.fromCallable(() -> {
                    Thread leaving = new Thread(result::cancel);
                    leaving.start();
                    leaving.join();
                    stillHeld.set(!world.store.contents().isEmpty());
                    return "sold";
                }))
                .subscribe(result);

        assertThat(stillHeld).as("while the synchronous step runs").isTrue();
        assertThat(world.store.contents()).isEmpty();
        assertThat(result.getReceivedOnNext()).isEmpty();
        assertThat(world.events(LockEvent.Released.class)).hasSize(1);
    }

    @Test
    void aSubscriberThatCancelsAtTheFirstElementReleasesTheLock() {
        TestSubscriber<Integer> result = world.subscribe(
                world.lock().withLockMany(lease -> Flux.range(0, 1_000)).next());

        assertThat(result.getReceivedOnNext()).containsExactly(0);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void workThatEmitsDuringItsStartStopsAtACancellation() {
        AtomicInteger made = new AtomicInteger();
        AtomicInteger cancelled = new AtomicInteger();
        Flux<Integer> work =
                Flux.range(0, 1_000).doOnNext(element -> made.incrementAndGet()).doOnCancel(cancelled::incrementAndGet);
        TestSubscriber<Integer> result =
                world.subscribe(world.lock().withLockMany(lease -> work).next());

        assertThat(result.getReceivedOnNext()).containsExactly(0);
        assertThat(made).hasValue(1);
        assertThat(cancelled).hasValue(1);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void workThatCannotBeLinkedFailsAndTheLockIsReleased() {
        Function<LockLease, Mono<String>> broken = lease -> {
            throw new NoClassDefFoundError("Stock");
        };
        TestSubscriber<String> result = world.subscribe(world.lock().withLock(broken));

        assertThat(result.expectTerminalError()).isInstanceOf(NoClassDefFoundError.class);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void cancellingWhileWaitingGivesUpThePlace() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<Object> result = world.subscribe(world.lock().withLock(Mono.never()));
        result.cancel();
        world.subscribe(holder.release());

        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void theReleaseOfAFailedRequestGoesOnInTheBackground() {
        world.on(Operation.RELEASE).next(Fault.lostRequest(), Fault.lostRequest());
        TestSubscriber<String> result = world.subscribe(world.lock().withLock(Mono.just("sold")));

        world.pass(Duration.ofMillis(200));

        assertThat(result.getReceivedOnNext()).containsExactly("sold");
        assertThat(world.store.contents()).isEmpty();
        assertThat(world.events(LockEvent.Released.class)).hasSize(1);
    }

    @Test
    void theResultWaitsAtMostOneOperationTimeoutForTheRelease() {
        world.on(Operation.RELEASE).always(Fault.lostRequest().silently());
        TestSubscriber<String> result = world.subscribe(world.lock().withLock(Mono.just("sold")));
        world.pass(OPERATION_TIMEOUT.minusMillis(1));
        assertThat(result.getReceivedOnNext()).isEmpty();

        world.pass(Duration.ofMillis(1));
        assertThat(result.getReceivedOnNext()).containsExactly("sold");
        assertThat(result.isTerminatedComplete()).isTrue();

        world.on(Operation.RELEASE).none();
        world.pass(OPERATION_TIMEOUT);
        assertThat(world.store.contents()).as("released in the background").isEmpty();
    }

    @Test
    void aReleaseThatCannotBeSentLeavesTheResultAndIsReportedAtTheDeadline() {
        world.on(Operation.RELEASE).always(Fault.lostRequest());
        TestSubscriber<String> result = world.subscribe(world.lock().withLock(Mono.just("sold")));
        world.pass(OPERATION_TIMEOUT);
        assertThat(result.getReceivedOnNext()).containsExactly("sold");

        world.pass(LEASE);

        assertThat(world.events(LockEvent.ReleaseUnconfirmed.class)).hasSize(1);
        assertThat(world.granted(world.rivalLock().tryAcquire()).isValid())
                .as("the lease duration frees the lock")
                .isTrue();
    }

    @Test
    void aReleaseAnsweredNotHeldIsALossInsteadOfTheResult() {
        TestSubscriber<String> result = world.subscribe(world.lock().withLock(lease -> {
            world.takeAway(World.NAME);
            return Mono.just("sold");
        }));

        assertThat(result.getReceivedOnNext()).isEmpty();
        assertThat(result.expectTerminalError())
                .asInstanceOf(type(LockLostException.class))
                .satisfies(lost -> assertThat(lost.reason()).isEqualTo(LossReason.NOT_HELD));
    }

    @Test
    void aReleaseAnsweredNotHeldAfterAnUnknownOutcomeReadsReleased() {
        world.on(Operation.RELEASE).next(Fault.lostReply());
        TestSubscriber<String> result = world.subscribe(world.lock().withLock(Mono.just("sold")));
        world.pass(Duration.ofMillis(100));

        assertThat(result.getReceivedOnNext()).containsExactly("sold");
        assertThat(world.on(Operation.RELEASE).calls()).isEqualTo(2);
    }

    @Test
    void aLossCancelsTheWorkAndThenFails() {
        List<String> order = new ArrayList<>();
        TestSubscriber<Object> result = world.subscribe(world.lock()
                .withLock(Mono.never().doOnCancel(() -> order.add("work cancelled")))
                .doOnError(error -> order.add("failed")));
        world.takeAway(World.NAME);

        world.pass(LEASE.dividedBy(3));

        assertThat(result.expectTerminalError())
                .asInstanceOf(type(LockLostException.class))
                .satisfies(lost -> assertThat(lost.reason()).isEqualTo(LossReason.NOT_HELD));
        assertThat(order).containsExactly("work cancelled", "failed");
    }

    @Test
    void manyElementsPassAsTheyComeAndCompletionWaitsForTheRelease() {
        world.on(Operation.RELEASE).next(Fault.delayedReply(Duration.ofMillis(100)));
        TestPublisher<Integer> work = TestPublisher.create();
        TestSubscriber<Integer> result =
                TestSubscriber.builder().initialRequest(1).build();
        world.lock().<Integer>withLockMany(lease -> work.flux()).subscribe(result);
        work.assertMinRequested(1);
        work.next(1);
        assertThat(result.getReceivedOnNext()).containsExactly(1);
        result.request(1);
        work.next(2).complete();
        assertThat(result.getReceivedOnNext()).containsExactly(1, 2);
        assertThat(result.isTerminated()).isFalse();

        world.pass(Duration.ofMillis(100));

        assertThat(result.isTerminatedComplete()).isTrue();
        assertThat(world.store.contents()).isEmpty();
    }

    static Stream<Named<Function<Mono<Object>, Mono<?>>>> losingOperators() {
        Duration soon = Duration.ofMillis(10);
        return Stream.of(
                Named.of("timeout", work -> work.timeout(soon)),
                Named.of(
                        "take",
                        work -> work.flux().mergeWith(Mono.just(1)).take(1).next()),
                Named.of("firstWithSignal", work -> Mono.firstWithSignal(work, Mono.just(1))),
                Named.of("zip", work -> Mono.zip(work, Mono.error(new IllegalStateException("lost")))),
                Named.of(
                        "switchMap",
                        work -> Flux.just(1, 2)
                                .switchMap(n -> n == 1 ? work : Mono.just(n))
                                .then()));
    }

    @ParameterizedTest
    @MethodSource("losingOperators")
    void losingOperatorsLeaveNothing(Function<Mono<Object>, Mono<?>> losing) {
        Mono<Object> slow = world.lock().withLock(Mono.never());
        for (Fault fault : List.of(
                Fault.none(),
                Fault.delayedReply(Duration.ofMillis(5)),
                Fault.lostReply().silently())) {
            world.on(Operation.TRY_ACQUIRE).next(fault);
            Mono<?> surrounded = losing.apply(slow);
            Flux<?> timed = surrounded.flux().timeout(Duration.ofMillis(10), Mono.empty(), world.clock);
            world.subscribe(timed.then());
            world.pass(OPERATION_TIMEOUT.plusSeconds(1));
            assertThat(world.store.contents()).as("%s", fault).isEmpty();
            assertThat(world.client.toString()).contains("0 acquiring, 0 held, 0 releasing");
        }
    }
}
