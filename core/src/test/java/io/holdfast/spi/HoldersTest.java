package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

class HoldersTest {

    private static final LockKey ORDERS = LockKey.of(LockKind.MUTEX, "orders");
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(clock);

    @Test
    void backEndWithoutTheFeatureNamesItInTheError() {
        LockBackend poor = new LockBackend() {
            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                return store.tryAcquire(claim);
            }

            @Override
            public Mono<Renewal> renew(LockClaim claim) {
                return store.renew(claim);
            }

            @Override
            public Mono<Ownership> release(LockClaim claim) {
                return store.release(claim);
            }

            @Override
            public Set<LockFeature> features() {
                return Set.of(LockFeature.FIFO);
            }

            @Override
            public String name() {
                return "poor";
            }

            @Override
            public Mono<Void> close() {
                return Mono.empty();
            }
        };
        StepVerifier.create(poor.holders(ORDERS))
                .expectErrorSatisfies(
                        error -> assertThat(error)
                                .isInstanceOf(UnsupportedOperationException.class)
                                .hasMessage(
                                        "back end poor cannot report the holders of a lock: it does not have HOLDERS, only [FIFO]"))
                .verify();
    }

    @Test
    void holderIsReportedWithItsOwnerAndTimes() {
        LockClaim claim = LockClaim.first(ORDERS, "00ff@orders:host-7:4711", LEASE, Waiting.NONE);
        StepVerifier.create(store.tryAcquire(claim)).expectNextCount(1).verifyComplete();
        clock.advanceTimeBy(Duration.ofSeconds(10));

        StepVerifier.create(store.holders(ORDERS))
                .expectNext(new LockHolder(
                        claim.id(),
                        LockKind.MUTEX,
                        1,
                        1,
                        Optional.of(Duration.ofSeconds(10)),
                        Optional.of(Duration.ofSeconds(20)),
                        Map.of()))
                .verifyComplete();
        StepVerifier.create(store.holders(ORDERS).map(LockHolder::owner))
                .expectNext("orders:host-7:4711")
                .verifyComplete();

        StepVerifier.create(store.renew(claim)).expectNextCount(1).verifyComplete();
        StepVerifier.create(store.holders(ORDERS))
                .assertNext(holder -> {
                    assertThat(holder.held()).contains(Duration.ofSeconds(10));
                    assertThat(holder.remaining()).contains(LEASE);
                })
                .verifyComplete();
    }

    @Test
    void claimWithoutALabelHasNoOwner() {
        assertThat(LockClaim.ownerOf("00ff")).isEmpty();
        assertThat(LockClaim.first(ORDERS, "00ff@", LEASE, Waiting.NONE).owner())
                .isEmpty();
    }

    @Test
    void closedBackEndReportsNoHolders() {
        StepVerifier.create(store.close()).verifyComplete();
        StepVerifier.create(store.holders(ORDERS))
                .expectError(LockBackendException.class)
                .verify();
    }
}
