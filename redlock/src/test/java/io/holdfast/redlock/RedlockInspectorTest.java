package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** The view of an operator when the masters disagree, or do not answer. */
class RedlockInspectorTest {

    private static final LockKey ORDERS = LockKey.of(LockKind.MUTEX, "orders");
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final List<InMemoryLockBackend> stores =
            Stream.generate(InMemoryLockBackend::create).limit(5).toList();

    private void hold(String id, int... masters) {
        LockClaim claim = LockClaim.first(ORDERS, id, LEASE, Waiting.NONE);
        IntStream.of(masters)
                .forEach(i -> StepVerifier.create(stores.get(i).tryAcquire(claim))
                        .expectNextCount(1)
                        .verifyComplete());
    }

    private void free(String id, int... masters) {
        LockClaim claim = LockClaim.first(ORDERS, id, LEASE, Waiting.NONE);
        IntStream.of(masters)
                .forEach(i -> StepVerifier.create(stores.get(i).release(claim))
                        .expectNext(Ownership.HELD)
                        .verifyComplete());
    }

    private void stop(int... masters) {
        IntStream.of(masters)
                .forEach(i -> StepVerifier.create(stores.get(i).close()).verifyComplete());
    }

    private LockInspector inspector() {
        Map<String, LockInspector> all = new LinkedHashMap<>();
        stores.forEach(store -> all.put("m" + all.size(), store.inspector()));
        return RedlockBackend.inspector(all);
    }

    @Test
    void aClaimThatAMajorityKnowsIsAHolderAndFewerAreAWarning() {
        hold("one@a", 0, 1, 4);
        hold("two@b", 2);

        StepVerifier.create(inspector().inspect("orders"))
                .assertNext(lock -> {
                    assertThat(lock.holders()).extracting(LockHolder::owner).containsExactly("a");
                    assertThat(lock.holders().get(0).details())
                            .containsEntry("masters", "3 of 5")
                            .containsEntry("not known to", "m2, m3");
                    assertThat(lock.warnings())
                            .singleElement()
                            .satisfies(it ->
                                    assertThat(it).startsWith("Claim two@b is known to 1 of 5 masters only (m2)"));
                })
                .verifyComplete();
        StepVerifier.create(inspector().all().map(LockReport::holderCount))
                .expectNext(1L)
                .verifyComplete();
    }

    /** A master that answers after the decision may have granted a higher token. The claim has that of the majority. */
    @Test
    void theTokenOfAHolderIsTheOneOfAMajority() {
        LockClaim claim = LockClaim.first(ORDERS, "one@a", LEASE, Waiting.NONE);
        long token = 1L << 52;
        for (int i = 0; i < stores.size(); i++) {
            stores.get(i)
                    .tryAcquire(claim.withTokenFloor(i == 4 ? token + 2 : token))
                    .block();
        }
        StepVerifier.create(inspector().inspect("orders"))
                .assertNext(lock -> assertThat(lock.holders())
                        .extracting(LockHolder::fencingToken)
                        .containsExactly(token))
                .verifyComplete();
    }

    /** A renewal restores a lease at masters that lost it, but not where it was broken. */
    @Test
    void aLeaseThatIsRenewedWhileItIsBrokenAtOneMasterAfterTheOtherIsNotRestored() {
        RedlockBackend backend = RedlockBackend.over(stores);
        LockClaim claim = LockClaim.first(ORDERS, "0123456789abcdef0123456789abcdef@host.1", LEASE, Waiting.QUEUE);
        assertThat(backend.tryAcquire(claim).block()).isInstanceOf(LockAttempt.Acquired.class);
        LockHolder holder = Objects.requireNonNull(backend.holders(ORDERS).blockFirst());
        Renewal last = new Renewal.Held(LEASE);
        for (InMemoryLockBackend store : stores.subList(0, 3)) {
            assertThat(store.inspector().breakHold("orders", holder).block()).isTrue();
            last = Objects.requireNonNull(backend.renew(claim).block());
        }
        assertThat(last).isInstanceOf(Renewal.NotHeld.class);
        assertThat(stores).allMatch(store -> store.contents().isEmpty());
        StepVerifier.create(backend.close()).verifyComplete();
    }

    /** After lost attempts, masters know one claim by ids of different numbers. */
    @Test
    void aClaimThatLostVotesBeforeItWonIsOneHolderAndIsBrokenAtAllMasters() {
        RedlockBackend backend = RedlockBackend.over(stores);
        LockClaim claim = LockClaim.first(ORDERS, "0123456789abcdef0123456789abcdef@host.1", LEASE, Waiting.QUEUE);
        hold("first@a", 0, 1, 2);
        assertThat(backend.tryAcquire(claim).block()).isNotInstanceOf(LockAttempt.Acquired.class);
        assertThat(backend.tryAcquire(claim.withAttempt(2)).block()).isNotInstanceOf(LockAttempt.Acquired.class);
        free("first@a", 1, 2);
        hold("second@b", 3, 4);
        assertThat(backend.tryAcquire(claim.withAttempt(3)).block()).isNotInstanceOf(LockAttempt.Acquired.class);
        free("first@a", 0);
        free("second@b", 3, 4);
        assertThat(backend.tryAcquire(claim.withAttempt(4)).block()).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(stores.stream()
                        .map(store -> store.holders(ORDERS).blockFirst())
                        .map(holder -> Objects.requireNonNull(holder).claimId())
                        .distinct())
                .hasSize(3);

        LockHolder holder = Objects.requireNonNull(backend.holders(ORDERS).blockFirst());
        assertThat(holder.claimId()).isEqualTo(claim.id());
        assertThat(holder.owner()).isEqualTo("host.1");
        assertThat(holder.details()).containsEntry("masters", "5 of 5");
        StepVerifier.create(inspector().inspect("orders"))
                .assertNext(lock -> {
                    assertThat(lock.holders()).extracting(LockHolder::claimId).containsExactly(claim.id());
                    assertThat(lock.warnings()).isEmpty();
                })
                .verifyComplete();

        StepVerifier.create(inspector().breakHold("orders", holder))
                .expectNext(true)
                .verifyComplete();
        assertThat(stores)
                .allSatisfy(
                        store -> assertThat(store.holders(ORDERS).blockFirst()).isNull());
    }

    @Test
    void mastersThatDoNotAnswerAreAWarningAndNoMajorityIsAFailure() {
        hold("one@a", 0, 1, 2);
        stop(3, 4);
        StepVerifier.create(inspector().inspect("orders"))
                .assertNext(lock -> {
                    assertThat(lock.holderCount()).isOne();
                    assertThat(lock.warnings())
                            .hasSize(2)
                            .allSatisfy(it -> assertThat(it).matches("Master m[34] did not answer: .*"));
                })
                .verifyComplete();

        stop(2);
        for (Mono<?> question :
                List.of(inspector().inspect("orders").then(), inspector().all().then())) {
            StepVerifier.create(question)
                    .expectErrorSatisfies(error -> assertThat(error)
                            .isInstanceOf(LockBackendException.class)
                            .hasMessageContaining("2 of 5 masters answered, which is not a majority"))
                    .verify();
        }
    }

    /** Two of five know it: with the silent master they may be a majority. */
    @Test
    void holdersAreAnErrorWhenTheyDependOnASilentMaster() {
        hold("one@a", 0, 1);
        RedlockBackend backend = RedlockBackend.over(stores);
        StepVerifier.create(backend.holders(ORDERS)).verifyComplete();

        stop(4);
        StepVerifier.create(backend.holders(ORDERS))
                .expectErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(LockBackendException.class)
                        .hasMessageContaining("it depends on masters that did not answer"))
                .verify();
    }

    @Test
    void breakingReachesEachMasterAndNeedsAMajority() {
        hold("one@a", 0, 1, 2, 3, 4);
        LockHolder holder = inspector()
                .inspect("orders")
                .flatMapIterable(LockReport::holders)
                .blockFirst();
        StepVerifier.create(inspector().breakHold("orders", holder))
                .expectNext(true)
                .verifyComplete();
        assertThat(stores).allSatisfy(store -> assertThat(store.contents()).isEmpty());

        stop(0, 1, 2);
        StepVerifier.create(inspector().breakHold("orders", holder))
                .expectError(LockBackendException.class)
                .verify();
    }
}
