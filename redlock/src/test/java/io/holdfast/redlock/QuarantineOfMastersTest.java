package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.test.subscriber.TestSubscriber;

/** Masters that were restarted and may not vote yet. That is no contention, and an acquisition goes on waiting. */
class QuarantineOfMastersTest {

    private static final Duration QUARANTINE = Five.LEASE.multipliedBy(3);

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();

    private void quarantine(int... numbers) {
        for (int number : numbers) {
            five.masters.get(number - 1).loseData(QUARANTINE.plusSeconds(number));
        }
    }

    private LockBackendException refused() {
        return catchThrowableOfType(LockBackendException.class, () -> client.attempt(Five.claim()));
    }

    private int requests() {
        return client.wires.stream().mapToInt(it -> it.requests).sum();
    }

    @Test
    void aMinorityInQuarantineChangesNothing() {
        quarantine(1, 2);
        LockClaim held = Five.claim();
        client.mustAcquire(held);
        assertThat(client.attempt(Five.claim())).as("taken").isInstanceOf(LockAttempt.Contended.class);
        five.answer(client.backend.release(held));
    }

    /** After the loss, tokens rise by the clocks alone. These agree again, and a second lies between the grants. */
    @Test
    void aClockThatWasAheadLongAgoDoesNotKeepTokensAheadOfTheNextGrantAfterALossOfData() {
        Five.Client another = five.client();
        five.masters.get(0).clock.wrongBy = Duration.ofHours(1);
        grantedAndReleased(client);
        grantedAndReleased(another);
        five.masters.get(0).clock.wrongBy = Duration.ZERO;
        for (int minutes = 0; minutes < 61; minutes++) {
            five.pass(Duration.ofMinutes(1));
            grantedAndReleased(client);
            grantedAndReleased(another);
        }
        long before = grantedAndReleased(client);

        five.masters.forEach(it -> it.loseData(Duration.ofSeconds(1)));
        five.pass(Duration.ofMillis(1_010));
        assertThat(grantedAndReleased(five.client())).isGreaterThan(before);
    }

    @CanIgnoreReturnValue
    private long grantedAndReleased(Five.Client by) {
        LockClaim claim = Five.claim();
        long token = by.mustAcquire(claim);
        five.answer(by.backend.release(claim));
        return token;
    }

    @Test
    void theErrorNamesTheMastersInQuarantineAndTheTimeToWait() {
        quarantine(1, 2, 3, 4);
        LockBackendException refused = refused();
        assertThat(refused)
                .hasMessageContainingAll("one abstained", "four abstained", "five said yes")
                .hasMessageContainingAll("4 of 5 masters may not vote yet", "quarantine", "3 votes", "92000 ms");
        assertThat(refused.isTransient()).isTrue();
        assertThat(refused.retryAfter())
                .as("the vote of the second one is enough")
                .contains(QUARANTINE.plusSeconds(2));
        assertThat(five.holding()).isEmpty();
    }

    @Test
    void aMasterInQuarantineGetsNoReleaseOfARefusedAttempt() {
        quarantine(1, 2, 3);
        int before = requests();
        var unused = refused();
        assertThat(requests() - before).as("five attempts, two of them undone").isEqualTo(7);
    }

    @Test
    void aFailedMasterMayBeBackBeforeTheQuarantineIsOver() {
        quarantine(1, 2);
        client.down(3);
        assertThat(refused())
                .hasMessageContainingAll("2 of 5 masters may not vote yet", "1 failed")
                .satisfies(error -> assertThat(error.retryAfter()).contains(Duration.ofSeconds(1)));
        client.down(4, 5);
        assertThat(refused().retryAfter())
                .as("quarantine is not the only reason")
                .isEmpty();
    }

    @Test
    void acquireWaitsThroughTheQuarantineOfAMajorityWithFewAttempts() {
        quarantine(1, 2, 3, 4, 5);
        TestSubscriber<LockLease> acquired =
                five.subscribe(client.locks.lock(Five.NAME).acquire());
        five.pass(QUARANTINE);
        assertThat(acquired.isTerminated()).isFalse();
        assertThat(requests()).as("attempts in 90 s").isLessThanOrEqualTo(10);

        five.pass(Duration.ofSeconds(5));

        LockLease lease = acquired.getReceivedOnNext().get(0);
        assertThat(lease.isValid()).isTrue();
        five.subscribe(lease.release());
    }

    @Test
    void aWaitTimeoutInQuarantineIsNoContention() {
        quarantine(1, 2, 3);
        LockClient impatient = LockClient.builder(client.backend)
                .timer(five.time)
                .options(
                        LockOptions.builder().waitTimeout(Duration.ofSeconds(5)).build())
                .closeBackend(false)
                .build();
        TestSubscriber<LockLease> acquired =
                five.subscribe(impatient.lock(Five.NAME).acquire());
        five.pass(Duration.ofSeconds(5));
        assertThat(acquired.expectTerminalError())
                .hasMessageContaining("quarantine")
                .isInstanceOfSatisfying(
                        LockTimeoutException.class,
                        error -> assertThat(error.backendAnswered()).isFalse());
        five.subscribe(impatient.close());
    }

    @Test
    void aMasterRefusesARestorationInQuarantineAndAcceptsItAfterwards() {
        LockClaim held = Five.claim();
        client.mustAcquire(held);
        five.masters.get(0).loseData(Five.LEASE.dividedBy(2));
        assertThat(five.answer(client.backend.renew(held))).isInstanceOf(Renewal.Held.class);
        five.pass(Duration.ofSeconds(1));
        assertThat(five.holding()).containsExactly(2, 3, 4, 5);

        five.pass(Five.LEASE.dividedBy(2));
        assertThat(five.answer(client.backend.renew(held))).isInstanceOf(Renewal.Held.class);
        five.pass(Duration.ofSeconds(1));

        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        five.answer(client.backend.release(held));
    }

    @Test
    void aLeaseThatAMasterRefusesIsRefusedWithItsName() {
        List<LockBackend> strict = IntStream.range(0, 3)
                .<LockBackend>mapToObj(i -> new AtMostAMinute(five.masters.get(i)))
                .toList();
        RedlockBackend backend = RedlockBackend.builder(strict)
                .names(List.of("one", "two", "three"))
                .closeMasters(false)
                .build();
        LockOptions options =
                LockOptions.builder().leaseDuration(Duration.ofMinutes(2)).build();
        assertThatThrownBy(() -> LockClient.builder(backend).options(options).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("one: at most a minute");
    }

    private record AtMostAMinute(LockBackend delegate) implements ForwardingLockBackend {

        @Override
        public void checkLease(Duration lease) {
            if (lease.compareTo(Duration.ofMinutes(1)) > 0) {
                throw new IllegalArgumentException("at most a minute");
            }
        }
    }
}
