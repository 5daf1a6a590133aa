package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;

class RenewalRoundTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();
    private final Five.Client rival = five.client();

    private Renewal renew(LockClaim claim) {
        return five.answer(client.backend.renew(claim));
    }

    private void release(LockClaim claim) {
        five.answer(client.backend.release(claim));
    }

    /** Deletes the keys at these masters, as an operator may do. */
    private void takeAway(LockClaim claim, int... masters) {
        for (int number : masters) {
            five.answer(five.masters.get(number - 1).release(claim));
        }
    }

    @Test
    void majorityThatHoldsItRenews() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        client.down(2);
        client.hung(4);
        assertThat(renew(claim)).isEqualTo(new Renewal.Held(Five.LEASE));
        client.up();
        release(claim);
    }

    @Test
    void lossOnAMinorityIsNoLossAndIsRestored() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        takeAway(claim, 2, 5);
        assertThat(five.holding()).containsExactly(1, 3, 4);
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        release(claim);
    }

    @Test
    void mastersThatWereUnreachableWhenTheLockWasWonGetTheLeaseLater() {
        client.down(1, 2);
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        assertThat(five.holding()).containsExactly(3, 4, 5);
        client.up();
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        release(claim);
    }

    @Test
    void lossOnAMajorityIsALossAtOnceAndIsNotRestored() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        takeAway(claim, 1, 3, 5);
        assertThat(renew(claim)).isEqualTo(new Renewal.NotHeld());
        five.pass(Duration.ofSeconds(1));
        assertThat(five.holding()).as("the minority is released").isEmpty();
        assertThat(renew(claim)).isEqualTo(new Renewal.NotHeld());
    }

    @Test
    void holderLearnsOfALossOnAMajorityByItsNextRenewal() {
        LockLease lease = five.answer(client.locks.lock(Five.NAME).acquire());
        for (Master master : five.masters.subList(0, 3)) {
            master.loseData(Duration.ZERO);
        }
        five.pass(Five.LEASE.dividedBy(3));
        assertThat(lease.isValid()).isFalse();
        assertThat(five.answer(lease.onLoss())).isEqualTo(LossReason.NOT_HELD);
        assertThat(five.holding()).isEmpty();
    }

    /**
     * Answers take their time. For a loss within the call, the engine's timer reports the loss to users after it has
     * sent all renewals.
     */
    @Test
    void holderLearnsOfALossBeforeItsOtherVotesAreReleased() {
        client.wires.forEach(it -> it.delayNanos = () -> 1_000_000);
        LockLease lease = five.answer(client.locks.lock(Five.NAME).acquire());
        List<List<Integer>> whenTold = new ArrayList<>();
        Disposable unused = lease.onLoss().subscribe(reason -> whenTold.add(five.holding()));
        for (Master master : five.masters.subList(0, 3)) {
            master.loseData(Duration.ZERO);
        }
        five.pass(Five.LEASE.dividedBy(3).plusMillis(10));
        assertThat(whenTold).containsExactly(List.of(4, 5));
        assertThat(five.holding()).isEmpty();
    }

    @Test
    void unreachableMajorityIsUnknownAndNeverALoss() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        client.down(1, 2);
        client.hung(3);
        long begin = five.millis();
        assertThatThrownBy(() -> renew(claim))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("RENEW of lock 'stock/42': UNKNOWN")
                .hasMessageContaining("three failed after 300 ms (no answer within 300 ms)");
        assertThat(five.millis() - begin).isEqualTo(Five.LIMIT.toMillis());
        client.up();
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class);
        release(claim);
    }

    @Test
    void nothingIsRestoredUnlessAMajorityHasConfirmedTheLease() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        client.down(4, 5);
        five.masters.get(2).loseData(Duration.ZERO);
        assertThatThrownBy(() -> renew(claim)).isInstanceOf(LockBackendException.class);
        assertThat(five.holding()).containsExactly(1, 2, 4, 5);
        client.up();
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        release(claim);
    }

    /**
     * Masters 3 to 5 forget at once and vote at once, against the rules: the client notices the other owner afterwards.
     */
    @Test
    void leaseThatAnotherOwnerHasInterruptedIsNeverContinued() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        five.masters.subList(2, 5).forEach(it -> it.loseData(Duration.ZERO));
        LockClaim other = Five.claim();
        rival.mustAcquire(other);
        five.answer(rival.backend.release(other));
        client.down(4, 5);
        assertThatThrownBy(() -> renew(claim)).isInstanceOf(LockBackendException.class);
        client.up();
        assertThat(renew(claim)).isEqualTo(new Renewal.NotHeld());
    }

    @Test
    void masterInQuarantineIsLeftAloneAndTheLeaseGoesOn() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        five.masters.get(2).loseData(Duration.ofMinutes(1));
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class);
        assertThat(five.holding()).containsExactly(1, 2, 4, 5);
        five.pass(Duration.ofSeconds(20));
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class);
        five.pass(Duration.ofSeconds(20));
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class);
        five.pass(Duration.ofSeconds(20));
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        release(claim);
    }

    @Test
    void restorationWithALaterTokenKeepsTheTokenOfTheLeaseAndRaisesTheNextOne() {
        LockClaim claim = Five.claim();
        long token = client.mustAcquire(claim);
        takeAway(claim, 1, 2);
        five.pass(Duration.ofSeconds(5));
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        assertThat(client.mustAcquire(claim))
                .as("another attempt of the same claim")
                .isEqualTo(token);
        release(claim);
        LockClaim next = Five.claim();
        assertThat(rival.mustAcquire(next)).isGreaterThan(token);
        five.answer(rival.backend.release(next));
    }

    @Test
    void nothingIsRestoredAfterTheLocalDeadline() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        five.pass(Five.LEASE.minusMillis(100)); // past the deadline, before the masters forget
        takeAway(claim, 1);
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class); // the engine does not trust it any more
        assertThat(five.holding()).containsExactly(2, 3, 4, 5);
        release(claim);
    }

    @Test
    void answeredLeaseIsWhatAMajorityPromises() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        Renewal renewed = renew(claim);
        assertThat(renewed).isEqualTo(new Renewal.Held(Five.LEASE));
        release(claim);
    }

    @Test
    void manyRenewalsAreOneRequestPerMasterAndEachHasItsOwnAnswer() {
        List<LockClaim> claims = IntStream.range(0, 200)
                .mapToObj(i -> Five.claim("lock/" + i, Waiting.NONE))
                .toList();
        claims.forEach(client::mustAcquire);
        LockClaim lost = claims.get(7);
        takeAway(lost, 1, 2, 3);
        LockClaim dubious = claims.get(9);
        takeAway(dubious, 1, 2);
        client.down(5);
        int before = client.wires.get(0).requests;
        List<Renewal> answers = five.answer(client.backend.renewAll(claims).collectList());
        assertThat(answers).hasSize(200);
        assertThat(answers.get(7)).isEqualTo(new Renewal.NotHeld());
        assertThat(answers.get(9))
                .isInstanceOfSatisfying(
                        Renewal.Unknown.class,
                        it -> assertThat(it.failure())
                                .hasMessageContaining("lock/9")
                                .hasMessageContaining("five failed"));
        assertThat(answers.stream().filter(Renewal.Held.class::isInstance)).hasSize(198);
        assertThat(client.wires.get(0).requests - before)
                .as("one batch, and nothing is restored")
                .isEqualTo(1);
        client.up();
        claims.forEach(this::release);
    }

    @Test
    void aShortLeaseInABatchDoesNotShortenTheTimeOfALongOne() {
        LockClaim slow = Five.claim();
        LockClaim brief =
                LockClaim.first(LockKey.of(LockKind.MUTEX, "stock/43"), "brief", Duration.ofSeconds(1), Waiting.NONE);
        List<LockClaim> batch = List.of(slow, brief);
        batch.forEach(client::mustAcquire);
        for (int number = 1; number <= 5; number++) {
            client.roundTrip(number, Duration.ofMillis(80));
        }
        assertThat(five.answer(client.backend.renewAll(batch).collectList()))
                .containsExactly(new Renewal.Held(slow.lease()), new Renewal.Held(brief.lease()));
        client.hung(1, 2, 3);
        long begin = five.millis();
        assertThat(five.answer(client.backend.renewAll(batch).collectList()))
                .hasSize(2)
                .hasOnlyElementsOfType(Renewal.Unknown.class);
        assertThat(five.millis() - begin)
                .as("half of the timeout of the brief one")
                .isEqualTo(125);
        client.up();
        batch.forEach(this::release);
    }

    @Test
    void slowMasterDoesNotDelayRenewals() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        client.roundTrip(1, Duration.ofMillis(250));
        client.roundTrip(2, Duration.ofMillis(4));
        long begin = five.millis();
        assertThat(renew(claim)).isInstanceOf(Renewal.Held.class);
        assertThat(five.millis() - begin).isZero();
        five.passMillis(300);
        release(claim);
        five.passMillis(300);
    }

    @Test
    void leaseSurvivesTheLossOfTwoMastersOneAfterTheOther() {
        LockLease lease = five.answer(client.locks.lock(Five.NAME).acquire());
        for (int restarted = 0; restarted < 5; restarted++) {
            five.masters.get(restarted).loseData(Duration.ZERO);
            five.pass(Five.LEASE);
            assertThat(lease.isValid())
                    .as("after the restart of %d", restarted + 1)
                    .isTrue();
        }
        assertThat(five.holding()).hasSize(5);
        long token = lease.fencingToken();
        five.subscribe(lease.release());
        LockClaim next = Five.claim();
        assertThat(rival.mustAcquire(next)).isGreaterThan(token);
        five.answer(rival.backend.release(next));
    }
}
