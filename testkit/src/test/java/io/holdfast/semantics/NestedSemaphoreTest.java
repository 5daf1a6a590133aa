package io.holdfast.semantics;

import static io.holdfast.semantics.World.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A semaphore is never re-entrant: each acquisition takes a permit of its own. */
class NestedSemaphoreTest {

    private static final Duration CALL = Duration.ofMillis(10);

    @RegisterExtension
    final World world = new World();

    @Test
    void nestedCallsAreBoundedByTheRemainingPermits() {
        ReactiveLock semaphore = world.client.semaphore(NAME, 3);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Mono<Long> call = Mono.fromRunnable(() -> most.accumulateAndGet(running.incrementAndGet(), Math::max))
                .then(Mono.delay(CALL, world.clock))
                .doOnNext(done -> running.decrementAndGet());
        TestSubscriber<Long> result = world.subscribe(semaphore.withLock(outer ->
                Flux.range(0, 100).flatMap(n -> semaphore.withLock(call), 100).count()));

        world.pass(CALL.multipliedBy(100));

        assertThat(result.getReceivedOnNext()).containsExactly(100L);
        assertThat(most).as("the outer call has one of three").hasValue(2);
    }

    @Test
    void aNestedPermitHasItsOwnTokenAndIsReleasedSeparately() {
        ReactiveLock semaphore = world.client.semaphore(NAME, 2);
        TestSubscriber<Boolean> result = world.subscribe(semaphore.withLock(
                outer -> semaphore.withLock(inner -> Mono.just(inner.fencingToken() > outer.fencingToken()))));

        assertThat(result.getReceivedOnNext()).containsExactly(true);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(2);
        assertThat(world.on(Operation.RELEASE).calls()).isEqualTo(2);
    }

    @Test
    void aPipelineThatHoldsAllPermitsWaitsForItself() {
        Duration patience = Duration.ofSeconds(1);
        ReactiveLock semaphore = world.client
                .semaphore(NAME, 1)
                .with(LockOptions.builder().waitTimeout(patience).build());
        TestSubscriber<Object> result = world.subscribe(semaphore.withLock(semaphore.withLock(Mono.never())));

        world.pass(patience);

        assertThat(result.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
    }

    @Test
    void aNestedPermitIsNoErrorWithoutReentrancy() {
        ReactiveLock semaphore = world.client
                .semaphore(NAME, 2)
                .with(LockOptions.builder().reentrant(false).build());
        TestSubscriber<String> result = world.subscribe(semaphore.withLock(semaphore.withLock(Mono.just("called"))));

        assertThat(result.getReceivedOnNext()).containsExactly("called");
    }

    @Test
    void currentIsTheInnermostPermit() {
        ReactiveLock semaphore = world.client.semaphore(NAME, 2);
        TestSubscriber<Boolean> result = world.subscribe(semaphore.withLock(
                outer -> semaphore.withLock(inner -> semaphore.current().map(inner::equals))));

        assertThat(result.getReceivedOnNext()).containsExactly(true);
    }

    @Test
    void aPermitOutlivesTheOuterPermit() {
        ReactiveLock semaphore = world.client.semaphore(NAME, 2);
        LockLease inner = world.only(world.subscribe(semaphore.withLock(outer -> semaphore.acquire())));

        assertThat(inner.isValid()).isTrue();
        assertThat(world.subscribe(inner.release()).isTerminatedComplete()).isTrue();
    }
}
