package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.MOMENT;
import static io.holdfast.semantics.World.NAME;
import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveSemaphore;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

class WithdrawalTest {

    @RegisterExtension
    final World world = new World();

    @Test
    void cancelBeforeTheAnswerReleasesTheClaimWhenTheAnswerComes() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(Duration.ofMillis(500)));
        TestSubscriber<LockLease> leaving = world.subscribe(world.lock().tryAcquire());
        leaving.cancel();
        assertThat(world.on(Operation.RELEASE).calls())
                .as("the request in flight is awaited")
                .isZero();

        world.pass(Duration.ofMillis(500));

        assertThat(world.on(Operation.RELEASE).calls()).isOne();
        assertThat(world.store.contents()).isEmpty();
        assertThat(leaving.getReceivedOnNext()).isEmpty();
        assertThat(world.events(LockEvent.AcquireCancelled.class)).hasSize(1);
    }

    @Test
    void cancelBeforeAnAnswerThatNeverComesReleasesTheClaimWhenItsTimeIsUp() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostReply().silently());
        world.subscribe(world.lock().acquire()).cancel();
        assertThat(world.store.contents()).isNotEmpty();

        world.pass(OPERATION_TIMEOUT);

        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void anAttemptThatOutlivesItsWithdrawalTakesNothing() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.delayedRequest(OPERATION_TIMEOUT.plusSeconds(1)));
        world.subscribe(world.lock().acquire()).cancel();

        world.pass(OPERATION_TIMEOUT.plusSeconds(2));

        assertThat(world.store.contents()).isEmpty();
        assertThat(world.granted(world.rivalLock().tryAcquire()).isValid()).isTrue();
    }

    @Test
    void cancelWhileWaitingGivesUpThePlaceAndDoesNotDelayTheWaiterBehind() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> leaving = world.subscribe(world.lock().acquire());
        TestSubscriber<LockLease> behind = world.subscribe(world.lock().acquire());

        leaving.cancel();
        world.subscribe(holder.release());

        assertThat(world.only(behind).isValid()).isTrue();
        assertThat(leaving.getReceivedOnNext()).isEmpty();
    }

    /** Another thread gets the error, and may release the lock that the claim waited for before this thread goes on. */
    @Test
    void aClaimThatTimedOutIsWithdrawnBeforeItsSubscriberGetsTheError() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        LockClient client = world.client(builder -> builder.deliverOn(Schedulers.immediate())
                .options(
                        LockOptions.builder().waitTimeout(Duration.ofSeconds(1)).build()));
        AtomicReference<LockLease> next = new AtomicReference<>();
        client.lock(NAME)
                .acquire()
                .onErrorResume(late -> holder.release().then(client.lock(NAME).tryAcquire()))
                .subscribe(next::set);

        world.pass(Duration.ofSeconds(1));

        assertThat(next.get()).isNotNull();
        assertThat(next.get().fencingToken()).as("no claim held it in between").isEqualTo(holder.fencingToken() + 1);
        client.close().subscribe();
    }

    /** The subscriber breaks rule 2.13 of Reactive Streams. The client must not count it as waiting for ever. */
    @Test
    void anAcquisitionWhoseSubscriberThrowsOnItsErrorIsOver() {
        LockClient client = world.client(builder -> builder.maxWaiters(1));
        world.on(Operation.TRY_ACQUIRE).next(Fault.refused());
        client.lock(NAME).acquire().subscribe(new CoreSubscriber<LockLease>() {
            @Override
            public void onSubscribe(Subscription subscription) {
                subscription.request(1);
            }

            @Override
            public void onNext(LockLease lease) {}

            @Override
            public void onError(Throwable error) {
                throw new AssertionError("thrown by a subscriber");
            }

            @Override
            public void onComplete() {}
        });
        world.pass(OPERATION_TIMEOUT);

        assertThat(client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
        world.subscribe(world.granted(client.lock(NAME).acquire()).release());
        world.subscribe(client.close()).expectTerminalSignal();
    }

    @Test
    void aGrantThatArrivesAfterACancellationGoesToTheNextWaiterAtOnce() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> leaving = world.subscribe(world.lock().acquire());
        TestSubscriber<LockLease> behind = world.subscribe(world.lock().acquire());

        world.faulty.loseSignals(World::isGrant); // on its way when the waiter cancels
        world.subscribe(holder.release());
        world.faulty.heal();
        leaving.cancel();
        assertThat(world.only(behind).isValid()).isTrue();
        assertThat(leaving.getReceivedOnNext()).isEmpty();
    }

    @Test
    void aCancellationOnAnotherThreadDuringTheEmissionLeavesNothing() {
        AtomicReference<LockLease> handedOver = new AtomicReference<>();
        world.lock().acquire().subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnNext(LockLease lease) {
                handedOver.set(lease);
                Thread leaving = new Thread(this::cancel);
                leaving.start();
                joined(leaving);
            }
        });

        assertThat(handedOver.get().isValid()).isFalse();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aSubscriberWhoseCancellationIsOvertakenByTheEmissionLeavesNothing() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        LeavesWhileAsked late = new LeavesWhileAsked();
        world.lock().acquire().map(lease -> lease).subscribe(late);
        late.isLeaving = true;
        world.subscribe(holder.release());
        assertThat(late.dropped)
                .as("the emission was too fast for the check before it")
                .isTrue();
        assertThat(world.store.contents()).isNotEmpty();

        late.upstream.cancel();

        assertThat(world.store.contents()).isEmpty();
    }

    /**
     * Marks itself as cancelled right after a scan, and cancels only later: its thread sleeps in the middle of
     * {@code dispose()}.
     */
    private static final class LeavesWhileAsked implements CoreSubscriber<LockLease>, Scannable {

        Subscription upstream = Operators.emptySubscription();
        boolean dropped;
        boolean isLeaving;
        private boolean marked;

        @Override
        public void onSubscribe(Subscription s) {
            upstream = s;
            s.request(1);
        }

        @Override
        public void onNext(LockLease lease) {
            dropped = marked;
        }

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onComplete() {}

        @Override
        @SuppressWarnings("rawtypes") // so declared by Reactor
        public @Nullable Object scanUnsafe(Attr key) {
            if (!Attr.CANCELLED.equals(key)) {
                return null;
            }
            boolean before = marked;
            marked = isLeaving;
            return before;
        }
    }

    @Test
    void aFutureCancelledDuringTheEmissionLeavesNothing() {
        cancelTheFutureWhileItsLeaseIsHandedOver(acquire -> acquire);
    }

    @Test
    void aFutureBehindAnOperatorCancelledDuringTheEmissionLeavesNothing() {
        cancelTheFutureWhileItsLeaseIsHandedOver(acquire -> acquire.map(lease -> lease));
    }

    private void cancelTheFutureWhileItsLeaseIsHandedOver(UnaryOperator<Mono<LockLease>> operators) {
        AtomicReference<@Nullable CompletableFuture<LockLease>> future = new AtomicReference<>();
        LockClient client = world.client(builder -> builder.listener(event -> {
            if (event instanceof LockEvent.Acquired) { // reported between the decision to emit and the emission
                // The state while a thread sleeps within cancel(): the future has ended, and its source does not know.
                Objects.requireNonNull(future.get()).completeExceptionally(new CancellationException());
            }
        }));
        LockLease holder = world.granted(world.rivalLock().acquire());
        future.set(operators.apply(client.lock(World.NAME).acquire()).toFuture());

        world.subscribe(holder.release());

        assertThat(future.get()).isCancelled();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aLaterCancellationDoesNotReleaseAnEmittedLease() {
        TestSubscriber<LockLease> subscriber = world.subscribe(world.lock().acquire());
        LockLease lease = world.only(subscriber);

        subscriber.cancel();

        assertThat(lease.isValid()).isTrue();
        assertThat(world.store.contents()).isNotEmpty();
    }

    @Test
    void aLaterCancellationThroughDoFinallyDoesNotReleaseAnEmittedLease() {
        // doFinally() reports that it is cancelled when it has only completed, and passes on a later cancellation.
        AtomicReference<@Nullable LockLease> kept = new AtomicReference<>();
        TestSubscriber<LockLease> subscriber = world.subscribe(
                world.lock().acquire().doFinally(end -> {}).doOnNext(kept::set).flatMap(lease -> Mono.never()));

        subscriber.cancel();

        assertThat(Objects.requireNonNull(kept.get()).isValid()).isTrue();
        assertThat(world.store.contents()).isNotEmpty();
    }

    @Test
    void aSubscriberThatCancelsAfterItsLeaseKeepsIt() {
        LockLease lease =
                world.only(world.subscribe(world.lock().acquire().flux().take(1).next()));

        assertThat(lease.isValid()).isTrue();
    }

    private static void joined(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aTimeoutWithdrawsLikeACancellation() {
        world.granted(world.rivalLock().acquire());
        world.subscribe(world.lock(o -> o.waitTimeout(Duration.ofSeconds(1))).acquire());
        world.pass(Duration.ofSeconds(1));

        assertThat(world.store.contents())
                .hasSize(2)
                .allSatisfy(line -> assertThat(line).doesNotContain("wait"));
    }

    @Test
    void aWithdrawalIsRepeatedUntilItIsAnswered() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(Duration.ofMillis(100)));
        world.on(Operation.RELEASE).next(Fault.lostRequest(), Fault.lostRequest());
        world.subscribe(world.lock().acquire()).cancel();

        world.pass(Duration.ofSeconds(1));

        assertThat(world.store.contents()).isEmpty();
        assertThat(world.events(LockEvent.WithdrawalUnconfirmed.class)).isEmpty();
    }

    @Test
    void aWithdrawalThatIsNeverAnsweredIsReportedWhenItsLeaseMustHaveEnded() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostReply());
        world.on(Operation.RELEASE).always(Fault.lostRequest());
        world.subscribe(world.lock().tryAcquire());

        world.pass(LEASE.plusSeconds(3));

        assertThat(world.events(LockEvent.WithdrawalUnconfirmed.class)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void cancellingAtAnyInstantLeavesNothingAndDelaysNoWaiter(long seed) {
        Random random = new Random(seed);
        world.on(Operation.TRY_ACQUIRE)
                .sometimes(
                        seed,
                        0.7,
                        Fault.delayedReply(Duration.ofMillis(3)),
                        Fault.delayedRequest(Duration.ofMillis(2)));
        for (int i = 0; i < 250; i++) {
            boolean contended = random.nextBoolean();
            LockLease holder = contended ? world.granted(world.rivalLock().acquire()) : null;
            TestSubscriber<LockLease> leaving = world.subscribe(
                    random.nextBoolean() ? world.lock().acquire() : world.lock().tryAcquire());
            TestSubscriber<LockLease> next = world.subscribe(world.rivalLock().acquire());
            world.pass(Duration.ofNanos(random.nextInt(4_000_000)));
            leaving.cancel();
            if (holder != null) {
                world.subscribe(holder.release());
            }
            leaving.getReceivedOnNext().forEach(lease -> world.subscribe(lease.release()));
            world.pass(Duration.ofMillis(5)); // the answer, and the release that follows from it
            LockLease granted = world.only(next);
            world.subscribe(granted.release());
            assertThat(world.store.contents()).as("seed %d, round %d", seed, i).isEmpty();
        }
        int renewals = world.on(Operation.RENEW).calls();
        world.pass(LEASE.multipliedBy(2));
        assertThat(world.on(Operation.RENEW).calls()).as("no renewal runs").isEqualTo(renewals);
    }

    /** The same with two to four of four permits for each lease. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void cancellingAnAcquisitionOfManyPermitsLeavesNoneTaken(long seed) {
        Random random = new Random(seed);
        ReactiveSemaphore semaphore = world.client.semaphore(NAME, 4);
        ReactiveSemaphore rival = world.rival.semaphore(NAME, 4);
        world.on(Operation.TRY_ACQUIRE)
                .sometimes(
                        seed,
                        0.7,
                        Fault.delayedReply(Duration.ofMillis(3)),
                        Fault.delayedRequest(Duration.ofMillis(2)));
        for (int i = 0; i < 250; i++) {
            LockLease holder = random.nextBoolean()
                    ? world.granted(rival.permits(1 + random.nextInt(4)).acquire())
                    : null;
            ReactiveLock some = semaphore.permits(2 + random.nextInt(3));
            TestSubscriber<LockLease> leaving =
                    world.subscribe(random.nextBoolean() ? some.acquire() : some.tryAcquire());
            TestSubscriber<LockLease> next = world.subscribe(rival.permits(4).acquire());
            world.pass(Duration.ofNanos(random.nextInt(4_000_000)));
            leaving.cancel();
            if (holder != null) {
                world.subscribe(holder.release());
            }
            leaving.getReceivedOnNext().forEach(lease -> world.subscribe(lease.release()));
            world.pass(Duration.ofMillis(5));
            world.subscribe(world.only(next).release());
            assertThat(world.store.contents()).as("seed %d, round %d", seed, i).isEmpty();
        }
    }

    /** Its subscriber is marked as cancelled already when it asks for the lock. */
    @Test
    void anAcquisitionInTheCleanUpOfCancelledWorkGetsItsLease() {
        List<LockLease> leases = new ArrayList<>();
        Mono<LockLease> cleanUp = world.lock().acquire().doOnNext(leases::add);
        TestSubscriber<String> cancelled = world.subscribe(Mono.usingWhen(
                Mono.just("resource"),
                resource -> Mono.<String>never(),
                resource -> cleanUp,
                (resource, error) -> cleanUp,
                resource -> cleanUp));

        cancelled.cancel();
        world.pass(MOMENT);

        assertThat(leases).hasSize(1);
        assertThat(leases.get(0).isValid()).isTrue();
        world.subscribe(leases.get(0).release());
    }

    /** Its work has completed, so no cancellation reaches the clean-up; but its subscriber is marked as cancelled. */
    @Test
    void anAcquisitionInAFinalCleanUpGetsItsLeaseAlthoughItsSubscriberIsCancelled() {
        LockLease held = world.granted(world.rivalLock().acquire());
        List<LockLease> leases = new ArrayList<>();
        TestSubscriber<String> cancelled = world.subscribe(Mono.usingWhen(
                Mono.just("resource"),
                Mono::just,
                resource -> world.lock().acquire().doOnNext(leases::add)));
        cancelled.cancel();

        world.subscribe(held.release());

        assertThat(leases).singleElement().matches(LockLease::isValid);
        world.subscribe(leases.get(0).release());
    }
}
