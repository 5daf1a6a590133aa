package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.MOMENT;
import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.holdfast.LockBackendException;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockTimeoutException;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

class AcquireTest {

    @RegisterExtension
    final World world = new World();

    @Test
    void nothingHappensBeforeSubscription() {
        assertThat(List.of(
                        world.lock().acquire(),
                        world.lock().tryAcquire(),
                        world.lock().withLock(Mono.just(1))))
                .hasSize(3);

        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isZero();
    }

    @Test
    void nothingHappensBeforeAnElementIsRequested() {
        TestSubscriber<LockLease> patient =
                TestSubscriber.builder().initialRequest(0).build();
        world.lock().acquire().subscribe(patient);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isZero();

        patient.request(1);
        assertThat(world.only(patient).isValid()).isTrue();
    }

    @Test
    void eachSubscriptionIsOneAcquisitionWithItsOwnClaim() {
        Mono<LockLease> acquire = world.lock().acquire();
        LockLease first = world.granted(acquire);
        TestSubscriber<LockLease> second = world.subscribe(acquire);
        assertThat(second.getReceivedOnNext()).isEmpty();

        world.subscribe(first.release());
        assertThat(world.only(second).fencingToken()).isGreaterThan(first.fencingToken());
    }

    @Test
    void tryAcquireCompletesEmptyWithinOneRoundTripAndLeavesNothing() {
        world.granted(world.rivalLock().acquire());
        List<String> before = world.store.contents();

        TestSubscriber<LockLease> result = world.subscribe(world.lock().tryAcquire());

        assertThat(result.isTerminatedComplete()).isTrue();
        assertThat(result.getReceivedOnNext()).isEmpty();
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isOne();
        assertThat(world.on(Operation.RELEASE).calls()).isZero();
        assertThat(world.store.contents()).isEqualTo(before);
        assertThat(world.events(LockEvent.NotAvailable.class)).hasSize(1);
    }

    @Test
    void tryAcquireNeverPassesWaitersInTheQueue() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(world.rivalLock().acquire());
        world.subscribe(holder.release());

        assertThat(world.subscribe(world.lock().tryAcquire()).getReceivedOnNext())
                .isEmpty();
        assertThat(world.only(waiter).isValid()).isTrue();
    }

    @Test
    void acquireWaitsForTheReleaseWithoutPolling() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(world.lock().acquire());
        world.pass(Duration.ofMillis(1900));
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isOne();

        world.subscribe(holder.release());

        assertThat(world.only(waiter).isValid()).isTrue();
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isOne();
        world.pass(Duration.ofMillis(49));
        assertThat(world.on(Operation.RENEW).calls()).isZero();
        world.pass(Duration.ofMillis(1));
        assertThat(world.on(Operation.RENEW).calls()).as("the confirmation").isOne();
    }

    @Test
    void acquirePastWaitTimeoutFailsCountedFromSubscriptionBackEndTimeIncluded() {
        world.granted(world.rivalLock().acquire());
        world.on(Operation.TRY_ACQUIRE).always(Fault.delayedReply(Duration.ofMillis(300)));
        TestSubscriber<LockLease> result = world.subscribe(
                world.lock(o -> o.waitTimeout(Duration.ofSeconds(5))).acquire());

        world.pass(Duration.ofSeconds(5).minus(MOMENT));
        assertThat(result.isTerminated()).isFalse();
        world.pass(MOMENT);

        assertThat(result.expectTerminalError())
                .asInstanceOf(type(LockTimeoutException.class))
                .satisfies(error -> {
                    assertThat(error.waited()).isEqualTo(Duration.ofSeconds(5));
                    assertThat(error.attempts()).isPositive();
                    assertThat(error.lockName()).isEqualTo(World.NAME);
                    assertThat(error).hasNoCause();
                    assertThat(error.backendAnswered())
                            .as("busy, not unreachable")
                            .isTrue();
                });
        assertThat(world.events(LockEvent.AcquireFailed.class)).hasSize(1);
    }

    @Test
    void acquireTimesOutAlsoWhenTheBackEndNeverAnswers() {
        world.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest().silently());
        TestSubscriber<LockLease> result = world.subscribe(
                world.lock(o -> o.waitTimeout(Duration.ofMillis(500))).acquire());

        world.pass(Duration.ofMillis(500));

        assertThat(result.expectTerminalError())
                .asInstanceOf(throwable(LockTimeoutException.class))
                .satisfies(error -> assertThat(error.backendAnswered())
                        .as("busy or unreachable: unknown")
                        .isFalse())
                .hasMessageContaining("the back end has not answered");
    }

    @Test
    void waitTimeoutZeroIsOneAttempt() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        var lock = world.lock(o -> o.waitTimeout(Duration.ZERO));

        assertThat(world.subscribe(lock.acquire()).expectTerminalError())
                .asInstanceOf(type(LockTimeoutException.class))
                .satisfies(error -> {
                    assertThat(error.attempts()).isOne();
                    assertThat(error.backendAnswered()).isTrue();
                });
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isOne();

        world.subscribe(holder.release());
        assertThat(world.granted(lock.acquire()).isValid()).isTrue();
    }

    @Test
    void transientErrorsAreRetriedUntilTheLockIsAcquired() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostRequest(), Fault.lostReply(), Fault.lostRequest());
        TestSubscriber<LockLease> result = world.subscribe(world.lock().acquire());

        world.pass(Duration.ofSeconds(1));

        assertThat(world.only(result).isValid()).isTrue();
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(4);
        assertThat(world.events(LockEvent.AttemptFailed.class)).hasSize(3);
    }

    @Test
    void transientErrorsAreTheCauseOfTheTimeout() {
        world.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest());
        TestSubscriber<LockLease> result = world.subscribe(
                world.lock(o -> o.waitTimeout(Duration.ofSeconds(5))).acquire());

        world.pass(Duration.ofSeconds(5));

        assertThat(result.expectTerminalError())
                .asInstanceOf(throwable(LockTimeoutException.class))
                .satisfies(error ->
                        assertThat(error.backendAnswered()).as("unreachable").isFalse())
                .hasCauseInstanceOf(LockBackendException.class);
    }

    @Test
    void transientErrorsWithoutAWaitTimeoutFailAfterOneLeaseInARow() {
        world.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest());
        TestSubscriber<LockLease> result = world.subscribe(world.lock().acquire());

        world.pass(LEASE.minusSeconds(1));
        assertThat(result.isTerminated()).isFalse();
        world.pass(Duration.ofSeconds(3));

        assertThat(result.expectTerminalError()).isInstanceOf(LockBackendException.class);
    }

    @Test
    void anAnswerInBetweenResetsTheCountOfErrors() {
        world.granted(world.rivalLock().acquire());
        world.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest());
        TestSubscriber<LockLease> result = world.subscribe(world.lock().acquire());
        world.pass(LEASE.minusSeconds(5));
        world.on(Operation.TRY_ACQUIRE).none();
        world.pass(Duration.ofSeconds(2));
        world.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest());

        world.pass(LEASE.minusSeconds(5));

        assertThat(result.isTerminated()).isFalse();
        result.cancel();
    }

    @Test
    void permanentErrorsFailAtOnce() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.refused());

        assertThat(world.subscribe(world.lock().acquire()).expectTerminalError())
                .isInstanceOf(LockBackendException.class);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isOne();
    }

    @Test
    void anUnknownOutcomeIsNotReadAsNo() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostReply());

        assertThat(world.subscribe(world.lock().tryAcquire()).expectTerminalError())
                .isInstanceOf(LockBackendException.class);
        assertThat(world.store.contents())
                .as("the client releases the lock that it has taken")
                .isEmpty();
    }

    @Test
    void anUnansweredAttemptCountsAsUnknownAfterTheOperationTimeout() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostReply().silently());
        TestSubscriber<LockLease> result = world.subscribe(world.lock().tryAcquire());

        world.pass(OPERATION_TIMEOUT);

        assertThat(result.expectTerminalError())
                .isInstanceOf(LockBackendException.class)
                .hasMessageContainingAll(World.NAME, "2000 ms", "memory");
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void theLeaseHasItsNameTokenAndValidity() {
        LockLease lease = world.granted(world.lock().acquire());

        assertThat(lease.lockName()).isEqualTo(World.NAME);
        assertThat(lease.fencingToken()).isPositive();
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.remaining()).isEqualTo(LEASE.minusMillis(302)); // 1 % and 2 ms
    }

    @Test
    void validityCountsFromBeforeTheRequestWasSent() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(Duration.ofMillis(1500)));
        TestSubscriber<LockLease> result = world.subscribe(world.lock().acquire());
        world.pass(Duration.ofMillis(1500));

        assertThat(world.only(result).remaining()).isEqualTo(LEASE.minusMillis(302 + 1500));
    }
}
