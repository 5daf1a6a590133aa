package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** One master hangs: it accepts requests and does not answer them. */
class SilentMasterTest {

    /** How many requests show its silence, and how many it gets in a second. */
    private static final int FEW = 20;

    private static final int MANY = 1_000;

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();

    private void cycle() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        release(claim);
        five.passMillis(1);
    }

    private void release(LockClaim claim) {
        assertThat(five.answer(client.backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    private int requestsTo(int number) {
        return client.wires.get(number - 1).requests;
    }

    private void fallsSilent() {
        client.hung(3);
        cycle();
        cycle();
        five.pass(Five.LIMIT);
    }

    @Test
    void aSilentMasterGetsFewRequestsForAnyNumberOfLocks() {
        fallsSilent();
        int before = requestsTo(3);
        for (int i = 0; i < MANY; i++) {
            cycle();
        }
        assertThat(requestsTo(3) - before).isBetween(1, FEW);
        assertThat(requestsTo(1)).isGreaterThanOrEqualTo(2 * MANY);
    }

    /** With a hundredth of the lease as its time limit, a master would count as silent after 6 s, the timeout after 2 s. */
    @Test
    void aLongLeaseGivesAMasterNoMoreTimeThanAnOperationHas() {
        LockOptions longLease =
                LockOptions.builder().leaseDuration(Duration.ofMinutes(10)).build();
        Five.Client patient = five.client(longLease);
        patient.hung(3);
        for (int i = 0; i < 2 * MANY; i++) {
            five.subscribe(patient.locks.lock(Five.NAME).withLock(lease -> Mono.just("done")));
            five.passMillis(1);
        }
        assertThat(patient.wires.get(2).requests).isLessThan(2 * MANY);
        patient.hung(1, 2);
        long begin = five.millis();
        assertThatThrownBy(() -> five.answer(patient.locks.lock(Five.NAME).tryAcquire()))
                .hasMessageContaining("one failed after 500 ms (no answer within 500 ms)");
        assertThat(five.millis() - begin).isEqualTo(500);
    }

    @Test
    void aSilentMasterVotesAgainSoonAfterItAnswers() {
        fallsSilent();
        for (int i = 0; i < MANY; i++) {
            cycle();
        }
        client.up();
        five.passMillis(100);
        cycle();
        int before = requestsTo(3);
        cycle();
        assertThat(requestsTo(3) - before).isEqualTo(2);
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        release(claim);
    }

    @Test
    void theOtherMastersKeepALeaseOfASilentMasterAndTheReleaseReachesItLater() {
        LockClaim held = Five.claim();
        client.mustAcquire(held);
        client.hung(3);
        for (int i = 0; i < 5; i++) {
            assertThat(five.answer(client.backend.renew(held))).isInstanceOf(Renewal.Held.class);
            five.pass(Five.LIMIT);
        }
        release(held);
        assertThat(five.holding()).containsExactly(3);
        client.up();
        five.pass(Duration.ofSeconds(3));
        assertThat(five.holding()).isEmpty();
    }

    @Test
    void whenAMajorityHangsEachMasterGetsRequestsSoTheLockWorksAsSoonAsTheyAnswer() {
        client.hung(1, 2, 3);
        for (int i = 0; i < 5; i++) {
            five.subscribe(client.backend.tryAcquire(Five.claim()).onErrorComplete(LockBackendException.class));
            five.pass(Five.LIMIT);
        }
        client.up();
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        release(claim);
    }
}
