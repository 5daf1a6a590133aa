package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.ForwardingLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** A master that answers nonsense counts as an unreachable one: the votes of the others stand. */
class PlausibleAnswersTest {

    @RegisterExtension
    final Five five = new Five();

    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    static Stream<LockAttempt> nonsense() {
        return Stream.of(
                new LockAttempt.Acquired(Long.MAX_VALUE, Five.LEASE),
                new LockAttempt.Acquired(1L << 53, Five.LEASE),
                new LockAttempt.Acquired(0, Five.LEASE),
                new LockAttempt.Acquired(-1, Five.LEASE),
                new LockAttempt.Acquired(7, FOR_EVER),
                new LockAttempt.Acquired(7, Duration.ZERO),
                new LockAttempt.Acquired(7, Duration.ofMillis(-1)),
                new LockAttempt.Contended(FOR_EVER),
                new LockAttempt.Contended(Duration.ofSeconds(Long.MIN_VALUE)),
                new LockAttempt.Queued(FOR_EVER));
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void aMasterThatAnswersNonsenseHarmsNoVoteOfTheOthers(LockAttempt nonsense) {
        RedlockBackend backend = over(nonsense);
        LockClaim claim = Five.claim();

        LockAttempt answer = five.answer(backend.tryAcquire(claim));

        assertThat(answer).isInstanceOfSatisfying(LockAttempt.Acquired.class, grant -> {
            assertThat(grant.lease()).isEqualTo(Five.LEASE);
            assertThat(grant.fencingToken()).isBetween(1L, 1L << 52);
        });
        assertThat(five.answer(backend.renew(claim))).isEqualTo(new Renewal.Held(Five.LEASE));
        five.answer(backend.release(claim));
        five.subscribe(backend.close());
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void aMajorityThatAnswersNonsenseIsAnErrorOrContentionAndNoHang(LockAttempt nonsense) {
        RedlockBackend backend = over(nonsense, nonsense, nonsense);
        LockClaim claim = Five.claim();

        LockAttempt answer =
                five.answer(backend.tryAcquire(claim).onErrorReturn(new LockAttempt.Contended(Duration.ofMillis(1))));

        if (answer instanceof LockAttempt.Acquired grant) {
            assertThat(grant.lease()).isLessThanOrEqualTo(Five.LEASE);
        } else {
            assertThat(((LockAttempt.Contended) answer).nextAttemptWithin()).isLessThanOrEqualTo(Five.LEASE);
        }
        five.answer(backend.release(claim));
        five.subscribe(backend.close());
    }

    private RedlockBackend over(LockAttempt... nonsense) {
        List<LockBackend> members = new ArrayList<>();
        for (LockAttempt each : nonsense) {
            members.add(new Broken(five.masters.get(members.size()), each));
        }
        members.addAll(five.masters.subList(members.size(), 5));
        return RedlockBackend.builder(members)
                .timer(five.time)
                .closeMasters(false)
                .build();
    }

    private record Broken(LockBackend delegate, LockAttempt nonsense) implements ForwardingLockBackend {

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim).thenReturn(nonsense);
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return delegate.renew(claim).thenReturn(new Renewal.Held(FOR_EVER));
        }
    }
}
