package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

class FaultyLockBackendTest {

    private static final Duration LATER = Duration.ofMillis(50);

    private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(timer);
    private final FaultyLockBackend faulty = FaultyLockBackend.over(store, timer);
    private final LockClaim claim =
            LockClaim.first(LockKey.of(LockKind.MUTEX, "stock"), "a1", Duration.ofSeconds(30), Waiting.NONE);

    @Test
    void withoutFaultsEverythingPasses() {
        StepVerifier.create(faulty.tryAcquire(claim)).expectNextCount(1).verifyComplete();
        StepVerifier.create(faulty.renewAll(List.of(claim))).expectNextCount(1).verifyComplete();
        StepVerifier.create(faulty.release(claim)).expectNext(Ownership.HELD).verifyComplete();
        StepVerifier.create(faulty.ping()).verifyComplete();
        assertThat(faulty.on(Operation.RENEW).calls()).isEqualTo(1);
    }

    @Test
    void assemblingIsNotACall() {
        Mono<LockAttempt> unused = faulty.tryAcquire(claim);
        assertThat(unused).isNotNull();
        assertThat(faulty.on(Operation.TRY_ACQUIRE).calls()).isZero();
    }

    @Test
    void lostRequestDoesNotReachTheStore() {
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.lostRequest());
        StepVerifier.create(faulty.tryAcquire(claim)).verifyErrorMatches(isTransient(true));
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void lostReplyLeavesTheRequestCarriedOut() {
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.lostReply());
        StepVerifier.create(faulty.tryAcquire(claim)).verifyErrorMatches(isTransient(true));
        assertThat(store.contents()).hasSize(1);
    }

    @Test
    void silentFaultNeverAnswers() {
        faulty.on(Operation.RELEASE).next(Fault.lostReply().silently());
        CompletableFuture<Ownership> answer = faulty.release(claim).toFuture();
        timer.advanceTimeBy(Duration.ofDays(1));
        assertThat(answer).isNotDone();
    }

    @Test
    void refusalIsNotTransient() {
        faulty.on(Operation.PING).next(Fault.refused());
        StepVerifier.create(faulty.ping()).verifyErrorMatches(isTransient(false));
    }

    @Test
    void plannedFaultsComeBeforeTheStandingOne() {
        faulty.on(Operation.PING).always(Fault.lostRequest());
        faulty.on(Operation.PING).next(Fault.none());
        StepVerifier.create(faulty.ping()).verifyComplete();
        StepVerifier.create(faulty.ping()).verifyError();
        faulty.heal();
        StepVerifier.create(faulty.ping()).verifyComplete();
    }

    @Test
    void delayedRequestIsCarriedOutLaterAlsoWhenCancelled() {
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.delayedRequest(LATER));
        faulty.tryAcquire(claim).subscribe().dispose();
        assertThat(store.contents()).isEmpty();
        timer.advanceTimeBy(LATER);
        assertThat(store.contents()).hasSize(1);
    }

    @Test
    void delayedRequestIsRecalledWhenAskedTo() {
        faulty.cancelRecalls(true);
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.delayedRequest(LATER));
        faulty.tryAcquire(claim).subscribe().dispose();
        timer.advanceTimeBy(LATER);
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void delayedReplyComesLaterThanItsEffect() {
        faulty.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(LATER));
        CompletableFuture<LockAttempt> answer = faulty.tryAcquire(claim).toFuture();
        assertThat(store.contents()).hasSize(1);
        assertThat(answer).isNotDone();
        timer.advanceTimeBy(LATER);
        assertThat(answer).isCompleted();
    }

    @Test
    void duplicateReachesTheStoreAgain() {
        faulty.on(Operation.RENEW).next(Fault.duplicated(LATER));
        StepVerifier.create(faulty.tryAcquire(claim)).expectNextCount(1).verifyComplete();
        StepVerifier.create(faulty.renew(claim))
                .expectNext(new Renewal.Held(claim.lease()))
                .verifyComplete();
        timer.advanceTimeBy(claim.lease());
        assertThat(store.contents()).as("extended by the copy").hasSize(1);
        timer.advanceTimeBy(LATER);
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void aFailedRenewalOfManyIsTheOnlyUnknownOne() {
        LockClaim other =
                LockClaim.first(LockKey.of(LockKind.MUTEX, "other"), "another-id", claim.lease(), Waiting.NONE);
        StepVerifier.create(faulty.tryAcquire(claim)).expectNextCount(1).verifyComplete();
        faulty.on(Operation.RENEW).next(Fault.lostRequest());
        StepVerifier.create(faulty.renewAll(List.of(claim, other)))
                .expectNextMatches(Renewal.Unknown.class::isInstance)
                .expectNext(new Renewal.NotHeld())
                .verifyComplete();
    }

    @Test
    void sameSeedGivesTheSameFaults() {
        assertThat(outcomes(7)).isEqualTo(outcomes(7)).contains(true, false);
        assertThat(outcomes(7)).isNotEqualTo(outcomes(8));
    }

    @Test
    void chosenSignalsGetLost() {
        List<WatchSignal> seen = new ArrayList<>();
        faulty.loseSignals(WatchSignal.Armed.class::isInstance);
        faulty.watch(claim).subscribe(seen::add).dispose();
        assertThat(seen).isEmpty();
        faulty.heal();
        faulty.watch(claim).subscribe(seen::add).dispose();
        assertThat(seen).containsExactly(new WatchSignal.Armed());
    }

    private List<Boolean> outcomes(long seed) {
        faulty.on(Operation.PING).sometimes(seed, 0.5, Fault.lostRequest(), Fault.lostReply());
        List<Boolean> outcomes = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            outcomes.add(!faulty.ping().toFuture().isCompletedExceptionally());
        }
        return outcomes;
    }

    private static Predicate<Throwable> isTransient(boolean expected) {
        return error -> error instanceof LockBackendException failure && failure.isTransient() == expected;
    }
}
