package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** How observations end, and which errors belong to them. */
class ObservedOutcomesTest extends ObservedShop {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final LockOptions PATIENT_FOR_A_SECOND =
            LockOptions.builder().waitTimeout(SECOND).build();

    @Test
    void eachEndHasItsOutcome() {
        LockLease held = shop.only(client.lock(NAME).acquire());
        shop.subscribe(client.lock(NAME).tryAcquire());
        shop.subscribe(client.lock(NAME).with(PATIENT_FOR_A_SECOND).acquire());
        shop.pass(SECOND);
        shop.subscribe(client.lock(NAME).withLock(Mono.just(1))).cancel();
        shop.subscribe(held.release());
        shop.subscribe(client.lock(NAME).withLock(Mono.error(new IllegalStateException("work fails"))));
        shop.subscribe(client.lock(NAME).withLock(Mono.never())).cancel();
        shop.backend.on(Operation.TRY_ACQUIRE).next(Fault.refused());
        shop.subscribe(client.lock(NAME).withLock(Mono.just(1)));
        shop.backend.on(Operation.RENEW).always(Fault.lostRequest());
        shop.subscribe(client.lock(NAME).withLock(Mono.never()));
        shop.pass(Shop.LEASE);
        shop.subscribe(client.close());
        shop.subscribe(client.lock(NAME).withLock(Mono.just(1)));

        assertThat(recorder.outcomes())
                .isEqualTo("acquired not_available timeout cancelled work_failed work_cancelled failed lost closed");
        assertThat(recorder.started).hasSize(9);
    }

    @Test
    void theTimeOutOfAnotherLockInTheWorkIsAFailureOfTheWork() {
        shop.only(client.lock("orders/1").acquire());
        shop.subscribe(client.lock(NAME)
                .withLock(client.lock("orders/1").with(PATIENT_FOR_A_SECOND).withLock(Mono.just(1))));
        shop.pass(SECOND);

        assertThat(recorder.outcomes()).isEqualTo("acquired timeout work_failed");
    }

    @Test
    void anErrorOfTheWorkIsNoErrorOfTheObservation() {
        IllegalStateException soldOut = new IllegalStateException("sold out");
        TestSubscriber<Object> one = shop.subscribe(client.lock(NAME).withLock(lease -> {
            throw soldOut;
        }));
        TestSubscriber<Object> many =
                shop.subscribe(client.lock(NAME).withLockMany(lease -> Flux.concat(Mono.just(1), Mono.error(soldOut))));
        TestSubscriber<Object> together = shop.subscribe(
                client.all(client.lock(NAME), client.lock("stock/43")).withLock(Mono.error(soldOut)));

        assertThat(one.expectTerminalError()).isSameAs(soldOut);
        assertThat(many.expectTerminalError()).isSameAs(soldOut);
        assertThat(together.expectTerminalError()).isSameAs(soldOut);
        assertThat(recorder.outcomes()).isEqualTo("work_failed work_failed work_failed");
        assertThat(recorder.stopped)
                .extracting(LockObservationContext::getError)
                .containsOnlyNulls();
    }

    @Test
    void anErrorOfTheLockIsAnErrorOfTheObservation() {
        shop.backend.on(Operation.TRY_ACQUIRE).next(Fault.refused());
        TestSubscriber<Integer> refused = shop.subscribe(client.lock(NAME).withLock(Mono.just(1)));
        shop.backend.on(Operation.RENEW).always(Fault.lostRequest());
        TestSubscriber<Object> lost = shop.subscribe(client.lock(NAME).withLock(Mono.never()));
        shop.pass(Shop.LEASE);

        assertThat(recorder.outcomes()).isEqualTo("failed lost");
        assertThat(recorder.stopped)
                .extracting(LockObservationContext::getError)
                .containsExactly(refused.expectTerminalError(), lost.expectTerminalError());
    }

    @Test
    void aRefusalIsObservedToo() {
        LockOptions once = LockOptions.builder().reentrant(false).build();
        shop.subscribe(client.lock(NAME)
                .withLock(client.lock(NAME)
                        .with(once)
                        .acquire()
                        .onErrorResume(IllegalStateException.class, it -> Mono.empty())));

        assertThat(recorder.outcomes()).isEqualTo("failed completed");
    }

    @Test
    void anErrorOfTheBackEndAboutThisLockIsNoErrorOfTheWork() {
        shop.subscribe(client.lock(NAME).withLock(lease -> failedExport(NAME)));
        shop.subscribe(client.lock(NAME).withLock(lease -> failedExport("orders/1")));

        assertThat(recorder.outcomes()).isEqualTo("failed work_failed");
    }

    private static Mono<String> failedExport(String lockName) {
        return Mono.error(new LockBackendException(lockName, "the export was refused", false, null));
    }

    @Test
    void anUnconfirmedReleaseStillCompletesTheObservation() {
        shop.backend.on(Operation.RELEASE).always(Fault.refused());
        TestSubscriber<Integer> subscriber = shop.subscribe(client.lock(NAME).withLock(Mono.just(1)));
        shop.pass(Shop.LEASE);

        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(recorder.outcomes()).isEqualTo("completed");
    }
}
