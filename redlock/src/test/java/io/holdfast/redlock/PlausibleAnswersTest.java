package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockLease;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A master that answers nonsense counts as an unreachable one: the votes of the others stand. */
class PlausibleAnswersTest {

    @RegisterExtension
    final Five five = new Five();

    private static final long TOKENS_END = 1L << 53;
    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    static Stream<LockAttempt> nonsense() {
        return Stream.of(
                new LockAttempt.Acquired(Long.MAX_VALUE, Five.LEASE),
                new LockAttempt.Acquired(TOKENS_END, Five.LEASE),
                new LockAttempt.Acquired(TOKENS_END - 1, Five.LEASE),
                new LockAttempt.Acquired(TOKENS_END - (1L << 40) - 1, Five.LEASE),
                new LockAttempt.Acquired(0, Five.LEASE),
                new LockAttempt.Acquired(-1, Five.LEASE),
                new LockAttempt.Acquired(7, FOR_EVER),
                new LockAttempt.Acquired(7, Duration.ZERO),
                new LockAttempt.Acquired(7, Duration.ofMillis(-1)),
                new LockAttempt.Acquired(7, Duration.ofMillis(1)),
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

    /** A master refuses a floor near the end of the tokens. So such a token would make the lock unusable for good. */
    @Test
    void aMasterWithATokenNearTheEndIsLikeOneThatIsAway() {
        raiseAtTheFirst(TOKENS_END - (1L << 40) - 1);
        Five.Client client = five.client();
        long last = 0;
        for (int down = 2; down <= 5; down++) {
            client.up();
            client.down(down);
            last = acquireAbove(last, client);
        }
        assertThat(last).isLessThan(client.clock.micros() + 2_000_000);
    }

    @Test
    void theErrorNamesATokenThatIsFarAhead() {
        raiseAtTheFirst(TOKENS_END - (1L << 45));
        Five.Client client = five.client();
        client.down(2, 3);
        assertThatThrownBy(() -> client.attempt(Five.claim()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        it -> assertThat(it.isTransient()).isTrue())
                .hasMessageContaining("far ahead of this client's clock, and no other master has such a token");
    }

    @Test
    void theHighestTokenThatAClientBelievesLeavesTheLockUsableForEachMajority() {
        Five.Client client = five.client();
        raiseAtTheFirst(client.clock.micros() + (1L << 52) - 1_000);
        long last = acquireAbove(0, client);
        assertThat(last).isGreaterThan(1L << 52);

        for (int one = 1; one <= 5; one++) {
            for (int other = one + 1; other <= 5; other++) {
                client.up();
                client.down(one, other);
                five.passMillis(1);
                last = acquireAbove(last, client);
            }
        }
    }

    /** The first master answers each client with the highest token that the client believes. */
    @ParameterizedTest
    @ValueSource(longs = {20, 900, 86_400_000, 124L * 365 * 86_400_000})
    void aMasterThatRaisesTheOthersForAFastClockKeepsNoSlowClockOut(long aheadMillis) {
        Five.Client fast = five.client();
        fast.clock.wrongBy = Duration.ofMillis(aheadMillis);
        Five.Client slow = five.client();
        for (Five.Client client : List.of(fast, slow)) {
            Raising raising = new Raising(five.masters.get(0), client.clock);
            client.wires.get(0).master = () -> raising;
        }
        long last = 0;
        for (int i = 0; i < 50; i++) {
            last = acquireAbove(last, fast);
            five.passMillis(5);
            last = acquireAbove(last, slow);
            five.passMillis(500);
        }
        slow.down(1);
        last = acquireAbove(last, slow);
        assertThat(last).isLessThan(TOKENS_END - (1L << 49));
    }

    /** Its proposals are believed by all clients. */
    @Test
    void aClientWhoseClockIsFarAheadDelaysNoOther() {
        Five.Client wrong = five.client();
        long last = 0;
        for (int years : new int[] {80, 90, 400}) {
            wrong.clock.wrongBy = Duration.ofDays(365L * years);
            last = acquireAbove(last, wrong);
            Five.Client unset = five.client();
            unset.clock.wrongBy = Duration.ofDays(-365L * 50);
            last = acquireAbove(last, unset);
            last = acquireAbove(last, five.client());
        }
    }

    @Test
    void aVoteThatWasLostDoesNotCountATokenThatIsFarAheadAsAYes() {
        raiseAtTheFirst(TOKENS_END - (1L << 45));
        LockClaim other = Five.claim();
        five.answer(five.masters.get(3).tryAcquire(other));
        five.answer(five.masters.get(4).tryAcquire(other));
        assertThat(five.client().attempt(Five.claim())).isInstanceOf(LockAttempt.Contended.class);
        Vote vote = five.votes.get(0);
        assertThat(vote.outcome()).isEqualTo(Vote.Outcome.NO);
        assertThat(vote.count(Ballot.Answer.YES)).isEqualTo(2);
        assertThat(vote.ballots().get(0).detail()).contains("far ahead");
        five.answer(five.masters.get(3).release(other));
        five.answer(five.masters.get(4).release(other));
    }

    /** The lease of a claim is the shortest of a majority, so such an answer would end it almost at once. */
    @Test
    void aMasterThatPromisesAMillisecondDoesNotShortenTheLease() {
        Five.Client client = five.client();
        Hasty hasty = new Hasty(five.masters.get(0));
        client.wires.get(0).master = () -> hasty;
        for (int other = 2; other <= 5; other++) {
            client.roundTrip(other, Duration.ofMillis(2));
        }
        LockLease lease = five.answer(client.locks.lock(Five.NAME).acquire());
        for (int i = 0; i < 10; i++) {
            five.pass(Five.LEASE.dividedBy(2));
            assertThat(lease.isValid()).isTrue();
        }
        five.answer(lease.release().thenReturn(true));
    }

    private void raiseAtTheFirst(long token) {
        LockClaim claim = Five.claim().withTokenFloor(token);
        five.answer(five.masters.get(0).tryAcquire(claim));
        five.answer(five.masters.get(0).release(claim));
    }

    @CanIgnoreReturnValue
    private long acquireAbove(long last, Five.Client client) {
        LockClaim claim = Five.claim();
        long token = client.mustAcquire(claim);
        five.answer(client.backend.release(claim));
        assertThat(token).isGreaterThan(last);
        return token;
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

    private record Raising(LockBackend delegate, MutableClock clock) implements ForwardingLockBackend {

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            long most = Math.min(clock.micros() + (1L << 52), TOKENS_END - (1L << 50) - (1L << 40));
            return delegate.tryAcquire(claim)
                    .thenReturn(new LockAttempt.Acquired(Math.max(most, claim.tokenFloor()), claim.lease()));
        }
    }

    private record Hasty(LockBackend delegate) implements ForwardingLockBackend {

        private static final Duration SHORT = Duration.ofMillis(1);

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim)
                    .map(it -> it instanceof LockAttempt.Acquired grant
                            ? new LockAttempt.Acquired(grant.fencingToken(), SHORT)
                            : it);
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return delegate.renew(claim).map(it -> it instanceof Renewal.Held ? new Renewal.Held(SHORT) : it);
        }

        @Override
        public Flux<Renewal> renewAll(List<LockClaim> claims) {
            return Flux.fromIterable(claims).concatMap(this::renew);
        }
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
