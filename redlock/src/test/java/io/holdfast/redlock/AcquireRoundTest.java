package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.test.subscriber.TestSubscriber;

class AcquireRoundTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();
    private final Five.Client rival = five.client();

    @Test
    void attemptIsDecidedByTheThirdFastestMaster() {
        int[] roundTrips = {100, 2, 20, 1, 5};
        for (int i = 0; i < 5; i++) {
            client.roundTrip(i + 1, Duration.ofMillis(roundTrips[i]));
        }
        LockClaim claim = Five.claim();
        long begin = five.millis();
        client.mustAcquire(claim);
        assertThat(five.millis() - begin).isEqualTo(5);
        five.passMillis(100);
        assertThat(five.holding()).as("late yes of a won attempt").containsExactly(1, 2, 3, 4, 5);
        assertThat(five.answer(client.backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    @Test
    void hungMasterCostsNothing() {
        client.hung(1);
        for (int i = 2; i <= 5; i++) {
            client.roundTrip(i, Duration.ofMillis(2));
        }
        LockClaim claim = Five.claim();
        long begin = five.millis();
        client.mustAcquire(claim);
        assertThat(five.millis() - begin).isEqualTo(2);
        assertThat(five.answer(client.backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    /** The cost of an operation, as docs/decide/capacity.md says. */
    @Test
    void eachOperationIsOneRequestToEachMaster() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        assertThat(requests()).as("acquire").containsOnly(1);
        five.answer(client.backend.renew(claim));
        assertThat(requests()).as("and renew").containsOnly(2);
        five.answer(client.backend.release(claim));
        assertThat(requests()).as("and release").containsOnly(3);
    }

    private List<Integer> requests() {
        return client.wires.stream().map(it -> it.requests).toList();
    }

    @Test
    void attemptIsLostAsSoonAsAMajorityIsOutOfReach() {
        LockClaim held = Five.claim();
        rival.mustAcquire(held);
        client.hung(4, 5);
        long begin = five.millis();
        assertThat(client.attempt(Five.claim())).isInstanceOf(LockAttempt.Contended.class);
        assertThat(five.millis() - begin).isZero();
        five.answer(rival.backend.release(held));
    }

    @Test
    void everyYesToALostAttemptIsUndoneLateOnesToo() {
        rival.down(4, 5);
        LockClaim held = Five.claim();
        rival.mustAcquire(held);
        assertThat(five.holding()).containsExactly(1, 2, 3);
        client.roundTrip(5, Duration.ofMillis(100));
        assertThat(client.attempt(Five.claim())).isInstanceOf(LockAttempt.Contended.class);
        assertThat(five.holding()).containsExactly(1, 2, 3);
        five.passMillis(50);
        assertThat(five.holding()).as("the late master has just granted").containsExactly(1, 2, 3, 5);
        five.passMillis(110);
        assertThat(five.holding()).containsExactly(1, 2, 3);
        five.answer(rival.backend.release(held));
    }

    @Test
    void attemptWhoseReplyWasLostIsUndoneToo() {
        rival.down(4, 5);
        LockClaim held = Five.claim();
        rival.mustAcquire(held);
        client.wires.get(4).fateOfReply = () -> Wire.Fate.IS_LOST;
        assertThat(client.attempt(Five.claim())).isInstanceOf(LockAttempt.Contended.class);
        assertThat(five.holding()).containsExactly(1, 2, 3, 5);
        five.pass(Five.LIMIT.plusMillis(1));
        assertThat(five.holding()).containsExactly(1, 2, 3);
        five.answer(rival.backend.release(held));
    }

    @Test
    void threeDownIsAnErrorThatNamesTheMastersAndTheOthersKeepNothing() {
        five.subscribe(client.backend.ping()); // all have answered once
        client.down(1, 3);
        client.hung(5);
        long begin = five.millis();
        assertThatThrownBy(() -> client.attempt(Five.claim()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.isTransient()).isTrue())
                .hasMessageContaining("lock 'stock/42'")
                .hasMessageContaining("one failed after 0 ms (connection refused)")
                .hasMessageContaining("two said yes")
                .hasMessageContaining("three failed after 0 ms (connection refused)")
                .hasMessageContaining("five failed after 300 ms (no answer within 300 ms)")
                .hasMessageContaining("3 of 5 are needed");
        assertThat(five.millis() - begin).isEqualTo(Five.LIMIT.toMillis());
        assertThat(five.contents()).isEmpty();
    }

    /** {@code LocalHandOver} does this for a block of tokens. */
    @Test
    void holderThatRequestsAHigherTokenAndGetsTooFewAnswersKeepsTheLock() {
        LockClaim claim = Five.claim();
        long token = client.mustAcquire(claim);
        LockClaim higher = claim.withAttempt(2).withTokenFloor(token + 256);
        client.down(1, 3);
        client.hung(5);

        assertThatThrownBy(() -> client.attempt(higher)).isInstanceOf(LockBackendException.class);
        client.up();
        five.pass(Five.LIMIT.multipliedBy(2));

        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        assertThat(client.attempt(higher.withAttempt(3))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        assertThat(five.answer(client.backend.release(higher.withAttempt(3)))).isEqualTo(Ownership.HELD);
    }

    /** The answers to the restoration at 4 and 5 get lost, so the client does not know their tokens. */
    @Test
    void aHolderDoesNotLoseTheLockToGrantsWithTokensThatItHasNotSeen() {
        LockClaim claim = Five.claim();
        long token = client.mustAcquire(claim);
        five.pass(Duration.ofSeconds(5));
        for (int index : List.of(3, 4)) {
            five.answer(five.masters.get(index).release(claim));
            AtomicInteger answers = new AtomicInteger();
            client.wires.get(index).fateOfReply =
                    () -> answers.incrementAndGet() == 1 ? Wire.Fate.ARRIVES : Wire.Fate.IS_LOST;
        }
        five.answer(client.backend.renew(claim));
        five.pass(Five.LIMIT);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        client.up();
        client.down(1);

        assertThatThrownBy(() -> client.attempt(claim.withAttempt(2))).isInstanceOf(LockBackendException.class);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        assertThat(client.mustAcquire(claim.withAttempt(3))).isEqualTo(token);
        client.up();
        assertThat(five.answer(client.backend.release(claim.withAttempt(3)))).isEqualTo(Ownership.HELD);
    }

    @Test
    void contentionIsNotMistakenForAFailureNorAFailureForContention() {
        rival.down(3, 4, 5);
        LockClaim onTwo = Five.claim();
        assertThatThrownBy(() -> rival.attempt(onTwo)).isInstanceOf(LockBackendException.class);
        five.answer(five.masters.get(0).tryAcquire(onTwo)); // a vote of a client that died
        client.down(4, 5);
        assertThat(client.attempt(Five.claim())).isInstanceOf(LockAttempt.Contended.class);
        client.down(3);
        assertThatThrownBy(() -> client.attempt(Five.claim())).isInstanceOf(LockBackendException.class);
        five.answer(five.masters.get(0).release(onTwo));
    }

    /** The attempt arrives at 3 to 5 and its answer gets lost; the releases after it are refused, and wait. */
    @Test
    void aWaitingReleaseOfAFailedAttemptEndsNoVoteOfTheNextAttempt() {
        LockClaim held = Five.claim();
        List<Master> refusing = five.masters.subList(0, 2);
        refusing.forEach(it -> five.answer(it.tryAcquire(held)));
        for (Wire wire : client.wires.subList(2, 5)) {
            AtomicInteger requests = new AtomicInteger();
            wire.fateOfRequest = () -> requests.incrementAndGet() == 1 ? Wire.Fate.ARRIVES : Wire.Fate.IS_REFUSED;
            wire.fateOfReply = () -> Wire.Fate.IS_LOST;
        }
        LockClaim claim = Five.claim();
        assertThatThrownBy(() -> client.attempt(claim)).isInstanceOf(LockBackendException.class);
        refusing.forEach(it -> five.answer(it.release(held)));
        client.up();

        assertThat(client.attempt(claim.withAttempt(2)))
                .as("the votes that are being released are not this attempt's")
                .isInstanceOf(LockAttempt.Contended.class);
        five.pass(Duration.ofSeconds(1));
        client.mustAcquire(claim.withAttempt(3));
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        assertThat(five.answer(client.backend.release(claim.withAttempt(3)))).isEqualTo(Ownership.HELD);
    }

    @Test
    void anAttemptThatGotSomeVotesOfALockThatIsHeldLeavesNothingInTheClient() {
        LockClaim held = Five.claim();
        rival.down(1, 2);
        rival.mustAcquire(held);
        assertThat(client.attempt(Five.claim())).isInstanceOf(LockAttempt.Contended.class);
        assertThat(client.backend.claimCount()).isZero();
        assertThat(five.answer(rival.backend.release(held))).isEqualTo(Ownership.HELD);
    }

    @Test
    void anAttemptThatCouldNotBeginDoesNotStopTheNextOneOfItsClaim() {
        AtomicInteger readings = new AtomicInteger();
        RedlockBackend backend = RedlockBackend.builder(client.wires)
                .timer(five.time)
                .closeMasters(false)
                .wallClock(new MutableClock(five.time) {
                    @Override
                    public Instant instant() {
                        if (readings.incrementAndGet() == 1) {
                            throw new IllegalStateException("on purpose");
                        }
                        return super.instant();
                    }
                })
                .build();
        LockClaim claim = Five.claim(Five.NAME, Waiting.NOTIFY);
        Disposable watch = backend.watch(claim).subscribe();
        assertThatThrownBy(() -> five.answer(backend.tryAcquire(claim))).hasMessage("on purpose");
        assertThat(five.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(five.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        watch.dispose();
        five.subscribe(backend.close());
    }

    @Test
    void attemptIsCancelledWithoutATrace() {
        for (int millis = 0; millis < 30; millis++) {
            Random random = new Random(millis);
            client.wires.forEach(it -> it.delayNanos = () -> random.nextInt(10_000_000));
            Disposable attempt = client.backend.tryAcquire(Five.claim()).subscribe();
            five.passMillis(millis);
            boolean decided = attempt.isDisposed();
            attempt.dispose();
            five.passMillis(400);
            if (!decided) {
                assertThat(five.contents()).as("cancelled after %d ms", millis).isEmpty();
            }
            five.pass(Five.LEASE);
        }
    }

    /**
     * The second round, for one token at all masters, begins in the middle; the release follows the cancellation at
     * once.
     */
    @Test
    void attemptThatIsCancelledAndReleasedAtAnyInstantOfTwoRoundsLeavesNothing() {
        five.masters.get(0).clock.wrongBy = Duration.ofDays(1);
        for (int tenths = 0; tenths < 60; tenths++) {
            Random random = new Random(tenths);
            client.wires.forEach(it -> it.delayNanos = () -> random.nextInt(2_000_000));
            LockClaim claim = Five.claim("instant " + tenths, Waiting.NONE);
            Disposable attempt = client.backend.tryAcquire(claim).subscribe();
            five.pass(Duration.ofNanos(100_000L * tenths));
            attempt.dispose();
            five.subscribe(client.backend.release(claim));
            five.passMillis(100);
            assertThat(five.contents()).as("cancelled after %d00 µs", tenths).isEmpty();
        }
        assertThat(client.backend.claimCount()).isZero();
    }

    @Test
    void attemptUnderWayWhenTheBackEndIsClosedIsAnsweredAndLaterOnesFail() {
        client.wires.forEach(it -> it.delayNanos = () -> 5_000_000);
        LockClaim claim = Five.claim();
        TestSubscriber<LockAttempt> attempt = five.subscribe(client.backend.tryAcquire(claim));
        TestSubscriber<Void> closing = five.subscribe(client.backend.close());
        assertThat(closing.isTerminatedComplete()).isTrue();
        five.passMillis(20);

        assertThat(attempt.isTerminatedOrCancelled()).isTrue();
        assertThatThrownBy(() -> client.attempt(Five.claim())).hasMessageContaining("closed");
        five.pass(Five.LEASE.plusSeconds(1));
        assertThat(five.contents()).isEmpty();
    }

    @Test
    void leaseIsNeverEmittedWithLessValidityThanItReports() {
        client.wires.forEach(it -> it.delayNanos = () -> Five.LIMIT.toNanos() / 2 - 1_000);
        LockLease lease = five.answer(client.locks
                .lock(Five.NAME)
                .with(LockOptions.builder().autoRenew(false).build())
                .acquire());
        assertThat(lease.remaining()).isLessThan(Five.LEASE.minus(Five.LIMIT.dividedBy(2)));
        five.pass(lease.remaining().minusMillis(1));
        assertThat(lease.isValid()).isTrue();
        assertThat(five.holding()).as("still held by a majority").hasSizeGreaterThanOrEqualTo(3);
        five.passMillis(2);
        assertThat(lease.isValid()).isFalse();
    }

    /** The second round sets the expiry at some masters anew; the lease is as long as the first round allows. */
    @Test
    void secondRoundExtendsNothing() {
        five.masters.get(0).clock.wrongBy = Duration.ofDays(1);
        client.wires.forEach(it -> it.delayNanos = () -> Five.LIMIT.toNanos() / 2 - 1_000);
        long begin = five.millis();
        LockLease lease = five.answer(client.locks
                .lock(Five.NAME)
                .with(LockOptions.builder().autoRenew(false).build())
                .acquire());
        assertThat(five.votes.get(0).rounds()).isEqualTo(2);
        long validUntil = five.millis() + lease.remaining().toMillis();
        assertThat(validUntil - begin).isLessThan(Five.LEASE.toMillis() * 99 / 100);
        five.pass(lease.remaining().minusMillis(1));
        assertThat(five.holding()).hasSizeGreaterThanOrEqualTo(3);
        five.passMillis(2);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void tokensRiseWithAnyMajorityAndAnyClocks() {
        Random random = new Random(7);
        long last = 0;
        for (int round = 0; round < 300; round++) {
            five.masters.forEach(it -> it.clock.wrongBy = Duration.ofSeconds(random.nextInt(20_000) - 10_000));
            Five.Client next = round % 2 == 0 ? client : rival;
            next.clock.wrongBy = Duration.ofSeconds(random.nextInt(20_000) - 10_000);
            next.up();
            int one = 1 + random.nextInt(5);
            next.down(one, 1 + (one + random.nextInt(4)) % 5);
            LockClaim claim = Five.claim();
            long token = next.mustAcquire(claim);
            assertThat(token).isGreaterThan(last);
            last = token;
            assertThat(five.answer(next.backend.release(claim))).isEqualTo(Ownership.HELD);
        }
    }

    @Test
    void secondRoundsAreAlmostNeverNeededWithClocksFiveMillisecondsApart() {
        Random random = new Random(8);
        five.masters.forEach(it -> it.clock.wrongBy = Duration.ofNanos(random.nextInt(10_000_000) - 5_000_000));
        List<Five.Client> clients = List.of(client, rival, five.client());
        clients.forEach(it -> {
            it.clock.wrongBy = Duration.ofNanos(random.nextInt(10_000_000) - 5_000_000);
            it.wires.forEach(wire -> wire.delayNanos = () -> 100_000 + random.nextInt(900_000));
        });
        for (int round = 0; round < 2_000; round++) {
            Five.Client next = clients.get(random.nextInt(3));
            LockClaim claim = Five.claim();
            if (next.attempt(claim) instanceof LockAttempt.Acquired) {
                five.answer(next.backend.release(claim));
            }
        }
        List<Vote> won = five.votes.stream()
                .filter(it -> it.question() == Vote.Question.ACQUIRE && it.outcome() == Vote.Outcome.YES)
                .toList();
        long twice = won.stream().filter(it -> it.rounds() == 2).count();
        System.out.printf("second rounds with clocks 5 ms apart: %d of %d grants%n", twice, won.size());
        assertThat(won).hasSizeGreaterThan(1_500);
        assertThat(twice).isLessThanOrEqualTo(won.size() / 100);
    }

    @Test
    void listenerThatThrowsDoesNoHarm() {
        RedlockBackend loud = RedlockBackend.builder(client.wires)
                .timer(five.time)
                .listener(vote -> {
                    if (vote.question() == Vote.Question.ACQUIRE) {
                        throw new NoClassDefFoundError("on purpose");
                    }
                    throw new IllegalStateException("on purpose");
                })
                .build();
        LockClaim claim = Five.claim();
        assertThat(five.answer(loud.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(five.answer(loud.release(claim))).isEqualTo(Ownership.HELD);
    }

    @Test
    void theTextOfAVoteShowsTheAnswerOfEachMaster() {
        client.down(2);
        client.roundTrip(4, Duration.ofMillis(7));
        client.hung(5);
        LockClaim claim = Five.claim();
        long token = client.mustAcquire(claim);
        Vote vote = five.votes.get(0);
        assertThat(vote.count(Ballot.Answer.YES)).isEqualTo(3);
        assertThat(vote.outcome()).isEqualTo(Vote.Outcome.YES);
        assertThat(vote)
                .hasToString(
                        "ACQUIRE of lock 'stock/42': YES in 7 ms, 3 of 5 said yes [one said yes after 0 ms (token %1$d); two failed after 0 ms (connection refused); three said yes after 0 ms (token %1$d); four said yes after 7 ms (token %1$d); five had not answered after 7 ms]"
                                .formatted(token));
        TestSubscriber<Ownership> released = five.subscribe(client.backend.release(claim));
        five.passMillis(10);
        assertThat(released.getReceivedOnNext()).containsExactly(Ownership.HELD);
    }
}
