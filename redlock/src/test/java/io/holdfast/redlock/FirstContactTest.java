package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A master's first answer takes the time of a connection. A healthy master must not count as failed for that. */
class FirstContactTest {

    private static final Duration CONNECTING = Duration.ofMillis(700);

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.newClient(LockOptions.defaults());

    private void answersTake(Duration time, Integer... numbers) {
        List.of(numbers).forEach(number -> client.roundTrip(number, time));
    }

    /** Returns the milliseconds of an attempt, with any answer. */
    private long millisOfAnAttempt() {
        long begin = five.millis();
        LockClaim claim = Five.claim();
        five.answer(client.backend
                .tryAcquire(claim)
                .onErrorReturn(LockBackendException.class, new LockAttempt.Contended(Duration.ZERO)));
        long took = five.millis() - begin;
        five.answer(client.backend.release(claim).onErrorComplete().thenReturn(true));
        return took;
    }

    private LockClaim heldByAnotherClaimAt(Integer... numbers) {
        LockClaim other = Five.claim();
        List.of(numbers)
                .forEach(number -> five.answer(five.masters.get(number - 1).tryAcquire(other)));
        return other;
    }

    private void releaseEverywhere(LockClaim claim) {
        five.masters.forEach(master -> five.answer(master.release(claim)));
    }

    @Test
    void connectingDoesNotCountAgainstTheTimeLimitOfAHealthyMaster() {
        answersTake(CONNECTING, 1, 2, 3, 4, 5);
        LockClaim claim = Five.claim();
        LockAttempt answer = client.attempt(claim);
        assertThat(answer).isInstanceOf(LockAttempt.Acquired.class);
        client.up();
        five.answer(client.backend.release(claim));
    }

    @Test
    void aMasterThatHangsFromTheBeginningCostsNothingWhileAMajorityAnswers() {
        client.hung(1, 2);
        assertThat(millisOfAnAttempt()).isZero();
        LockClaim other = heldByAnotherClaimAt(3);
        assertThat(millisOfAnAttempt())
                .as("its vote would be needed, for the usual time")
                .isEqualTo(Five.LIMIT.toMillis());
        releaseEverywhere(other);
    }

    @Test
    void whenAMajorityHasAnsweredLateTheOthersGetNoMoreTimeThanUsualFromThenOn() {
        answersTake(CONNECTING, 1, 2, 3);
        client.hung(4, 5);
        five.answer(client.backend.ping().thenReturn(true));
        client.up();
        client.hung(4, 5);
        LockClaim other = heldByAnotherClaimAt(1);
        assertThat(millisOfAnAttempt()).isEqualTo(Five.LIMIT.toMillis());
        client.up();
        releaseEverywhere(other);
    }

    @Test
    void aMajorityThatHangsFromTheBeginningIsGivenUpOnInsideTheOperationTimeout() {
        client.hung(1, 2, 3);
        assertThatThrownBy(() -> client.attempt(Five.claim()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("no answer within 1400 ms");
        assertThat(five.millis()).isEqualTo(1_400);
        client.up();
        var unused = millisOfAnAttempt();
        client.hung(1, 2, 3);
        assertThat(millisOfAnAttempt()).as("not new any more").isEqualTo(Five.LIMIT.toMillis());
    }

    @Test
    void aMasterThatHasAnsweredOnceHasNoMoreTimeThanUsual() {
        var unused = millisOfAnAttempt();
        client.hung(1, 2, 3);
        assertThat(millisOfAnAttempt()).isEqualTo(Five.LIMIT.toMillis());
    }
}
