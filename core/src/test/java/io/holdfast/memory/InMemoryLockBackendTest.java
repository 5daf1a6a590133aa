package io.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Tests the reactive part; the contract and the tests of the queue cover the rules of the locks. */
class InMemoryLockBackendTest {

    private final InMemoryLockBackend store = InMemoryLockBackend.create(VirtualTimeScheduler.create());
    private final LockClaim holder = claim("holder", Waiting.NONE);
    private final LockClaim waiter = claim("waiter", Waiting.QUEUE);

    @Test
    void armedIsTheFirstSignalAndComesAtOnce() {
        StepVerifier.create(store.watch(waiter))
                .expectNext(new WatchSignal.Armed())
                .then(this::grantToWaiter)
                .expectNextMatches(WatchSignal.Granted.class::isInstance)
                .thenCancel()
                .verify();
        assertThat(store.contents()).noneMatch(line -> line.startsWith("watch"));
    }

    @Test
    void grantWaitsForDemand() {
        StepVerifier.create(store.watch(waiter), 0)
                .expectSubscription()
                .then(this::grantToWaiter)
                .thenRequest(1)
                .expectNext(new WatchSignal.Armed())
                .thenRequest(1)
                .expectNextMatches(WatchSignal.Granted.class::isInstance)
                .thenCancel()
                .verify();
    }

    @Test
    void requestsToAClosedBackEndFail() {
        StepVerifier.create(store.watch(waiter).ignoreElements())
                .then(() -> complete(store.close()))
                .verifyErrorMatches(InMemoryLockBackendTest::saysClosed);
        StepVerifier.create(store.tryAcquire(holder)).verifyErrorMatches(InMemoryLockBackendTest::saysClosed);
        StepVerifier.create(store.renew(holder)).verifyErrorMatches(InMemoryLockBackendTest::saysClosed);
        StepVerifier.create(store.release(holder)).verifyErrorMatches(InMemoryLockBackendTest::saysClosed);
        StepVerifier.create(store.watch(holder)).verifyErrorMatches(InMemoryLockBackendTest::saysClosed);
        StepVerifier.create(store.ping()).verifyErrorMatches(InMemoryLockBackendTest::saysClosed);
        complete(store.close());
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void errorNamesTheLock() {
        complete(store.close());
        StepVerifier.create(store.tryAcquire(holder))
                .verifyErrorMatches(error -> error.getMessage().contains("stock")
                        && ((LockBackendException) error).lockName().equals("stock"));
    }

    /** A grant that is not confirmed ends after 2 s. The timer that serves the next waiter runs later here. */
    @Test
    void requestForAnotherLockTakesNoWaiterItsTurn() {
        VirtualTimeScheduler time = VirtualTimeScheduler.create();
        InMemoryLockBackend timed = InMemoryLockBackend.create(time);
        List<String> granted = new ArrayList<>();
        LockClaim confirming = claim("a", "a1@live", Waiting.QUEUE);
        ask(timed, claim("a", "a0@live", Waiting.NONE));
        watch(timed, confirming, granted);
        ask(timed, confirming);
        ask(timed, claim("b", "b0@live", Waiting.NONE));
        for (String id : List.of("b0@gone", "b1@gone", "b1@live")) {
            LockClaim queued = claim("b", id, Waiting.QUEUE);
            watch(timed, queued, granted);
            ask(timed, queued);
        }
        timed.release(claim("a", "a0@live", Waiting.NONE)).subscribe();
        ask(timed, confirming); // the push to it started the timer, which runs at 2 s and 4 s
        time.advanceTimeBy(Duration.ofMillis(500));
        timed.release(claim("b", "b0@live", Waiting.NONE)).subscribe(); // pushed to b0@gone
        time.advanceTimeBy(Duration.ofMillis(2_200)); // that grant has ended

        ask(timed, claim("c", "c@live", Waiting.NONE));
        time.advanceTimeBy(Duration.ofSeconds(2));

        assertThat(granted).containsExactly("a1@live", "b0@gone", "b1@live");
    }

    private static void ask(InMemoryLockBackend of, LockClaim claim) {
        of.tryAcquire(claim).subscribe();
    }

    private static void watch(InMemoryLockBackend of, LockClaim claim, List<String> granted) {
        of.watch(claim).filter(WatchSignal.Granted.class::isInstance).subscribe(signal -> granted.add(claim.id()));
    }

    @Test
    void offersAllFeatures() {
        assertThat(store.features()).containsExactlyInAnyOrder(LockFeature.values());
        assertThat(store.name()).isEqualTo("memory");
    }

    @Test
    void longQueueThatReleasesOnEachGrantDoesNotOverflowTheStack() throws InterruptedException {
        InMemoryLockBackend real = InMemoryLockBackend.create();
        int length = 5_000;
        CountDownLatch served = new CountDownLatch(length);
        StepVerifier.create(real.tryAcquire(holder)).expectNextCount(1).verifyComplete();
        List<LockClaim> queue = IntStream.range(0, length)
                .mapToObj(i -> claim("waiter " + i, Waiting.QUEUE))
                .toList();
        for (LockClaim next : queue) {
            real.watch(next)
                    .ofType(WatchSignal.Granted.class)
                    .take(1)
                    .concatMap(granted -> real.release(next))
                    .subscribe(ownership -> served.countDown());
        }
        StepVerifier.create(Flux.fromIterable(queue).concatMap(real::tryAcquire))
                .expectNextCount(length)
                .verifyComplete();
        StepVerifier.create(real.release(holder)).expectNext(Ownership.HELD).verifyComplete();
        assertThat(served.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(real.contents()).noneMatch(line -> line.startsWith("MUTEX"));
    }

    private void grantToWaiter() {
        StepVerifier.create(store.tryAcquire(holder)).expectNextCount(1).verifyComplete();
        StepVerifier.create(store.tryAcquire(waiter))
                .expectNextMatches(LockAttempt.Queued.class::isInstance)
                .verifyComplete();
        StepVerifier.create(store.release(holder)).expectNext(Ownership.HELD).verifyComplete();
    }

    private static void complete(Mono<Void> mono) {
        StepVerifier.create(mono).verifyComplete();
    }

    private static boolean saysClosed(Throwable error) {
        return error instanceof LockBackendException failure
                && !failure.isTransient()
                && failure.getMessage().contains("closed");
    }

    private static LockClaim claim(String id, Waiting waiting) {
        return claim("stock", id, waiting);
    }

    private static LockClaim claim(String name, String id, Waiting waiting) {
        return LockClaim.first(LockKey.of(LockKind.MUTEX, name), id, Duration.ofSeconds(60), waiting);
    }
}
