package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LossReason;
import io.holdfast.internal.claim.ClaimState.Action;
import io.holdfast.internal.claim.LeaseState.Answered;
import io.holdfast.internal.claim.LeaseState.Certainty;
import io.holdfast.internal.claim.LeaseState.Hold;
import io.holdfast.internal.claim.LeaseState.Phase;
import io.holdfast.internal.engine.LockTerms;
import io.holdfast.internal.timing.Validity;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeaseStateTest {

    private static final long MILLI = 1_000_000;
    private static final long LEASE = 30_000 * MILLI;
    private static final long DEADLINE = 29_698 * MILLI;
    private static final LockTerms RENEWED = Acquiring.terms(true, null);
    private static final LockTerms NOT_RENEWED = Acquiring.terms(false, null);

    @Test
    void itIsValidUntilTheDeadlineAndNotAtIt() {
        LeaseState state = granted(RENEWED);

        assertThat(state.validUntilNanos()).isEqualTo(DEADLINE);
        assertThat(state.isValid(DEADLINE - 1)).isTrue();
        assertThat(state.isValid(DEADLINE)).isFalse();
    }

    @Test
    void itIsNotValidOnceReleaseIsAsked() {
        assertThat(granted(RENEWED).releaseAsked(0).lease().isValid(1)).isFalse();
    }

    @Test
    void aRenewalExtendsFromItsSendTimeAndNotFromItsAnswer() {
        LeaseState state = granted(RENEWED)
                .renewed(10_000 * MILLI, LEASE, true, 11_000 * MILLI)
                .lease();

        assertThat(state.validUntilNanos()).isEqualTo(10_000 * MILLI + DEADLINE);
        assertThat(state.wakeAtNanos()).isBetween(19_000 * MILLI, 20_000 * MILLI);
    }

    @Test
    void aRenewalWithAShorterLeaseShortensTheLease() {
        LeaseState state = granted(RENEWED)
                .renewed(10_000 * MILLI, 1_000 * MILLI, true, 10_001 * MILLI)
                .lease();

        assertThat(state.validUntilNanos()).isEqualTo((10_000 + 1_000 - 10 - 2) * MILLI);
    }

    @Test
    void anAnswerToAnEarlierRenewalDoesNotTakeBackALaterOne() {
        LeaseState later = granted(RENEWED)
                .renewed(10_000 * MILLI, LEASE, false, 10_001 * MILLI)
                .lease();

        LeaseState state =
                later.renewed(9_000 * MILLI, LEASE, true, 10_002 * MILLI).lease();

        assertThat(state.validUntilNanos()).isEqualTo(later.validUntilNanos());
    }

    @Test
    void anEndByTheLongestHoldTimeDiffersFromOneByTheDeadline() {
        LockTerms bounded = Acquiring.terms(true, Duration.ofSeconds(20));

        assertThat(granted(bounded).tick(20_000 * MILLI).lease().lossReason()).isEqualTo(LossReason.MAX_HOLD_TIME);
        assertThat(granted(RENEWED).tick(DEADLINE).lease().lossReason()).isEqualTo(LossReason.EXPIRED);
        assertThat(granted(bounded).renewalDenied().lease().lossReason()).isEqualTo(LossReason.NOT_HELD);
    }

    @Test
    void anAnswerWithAZeroLeaseIsNotTheLongestHoldTime() {
        LeaseState held = granted(Acquiring.terms(true, Duration.ofSeconds(20)));

        LeaseState lost =
                held.renewed(10_000 * MILLI, MILLI, true, 11_000 * MILLI).lease();

        assertThat(lost.phase()).isEqualTo(Phase.LOST);
        assertThat(lost.lossReason()).isEqualTo(LossReason.EXPIRED);
    }

    @Test
    void oneRenewalIsInFlightAtATime() {
        LeaseState renewing = granted(RENEWED).tick(10_000 * MILLI).lease();

        assertThat(renewing.tick(11_000 * MILLI).action()).isEqualTo(Action.NONE);
        assertThat(renewing.wakeAtNanos()).isEqualTo(DEADLINE);
    }

    @Test
    void aFailedRenewalIsRepeatedSoonAndKeepsTheDeadline() {
        long failedAt = 12_000 * MILLI;
        LeaseState failed = granted(RENEWED)
                .tick(10_000 * MILLI)
                .lease()
                .renewalFailed(true, failedAt)
                .lease();

        assertThat(failed.validUntilNanos()).isEqualTo(DEADLINE);
        assertThat(failed.failures()).isEqualTo(1);
        assertThat(failed.wakeAtNanos()).isBetween(failedAt + 10 * MILLI, failedAt + 1_000 * MILLI);
        assertThat(failed.tick(failed.wakeAtNanos()).action()).isEqualTo(Action.RENEW);
        assertThat(failed.renewed(failedAt, LEASE, true, failedAt + 1).lease().failures())
                .isZero();
    }

    @Test
    void withoutAutoRenewNothingIsRenewed() {
        LeaseState state = granted(NOT_RENEWED);

        assertThat(state.wakeAtNanos()).isEqualTo(DEADLINE);
        assertThat(state.tick(20_000 * MILLI).action()).isEqualTo(Action.NONE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPushedGrantIsRenewedSoonAlsoWithoutAutoRenew(boolean autoRenew) {
        LockTerms terms = Acquiring.terms(autoRenew, null);
        LeaseState pushed = LeaseState.of(
                Hold.granted(7, 1, Answered.EACH, 500 * MILLI, terms), 0, 2_000 * MILLI, Certainty.PUSHED);

        assertThat(pushed.wakeAtNanos()).isEqualTo(550 * MILLI);
        assertThat(pushed.tick(549 * MILLI).action()).isEqualTo(Action.NONE);
        assertThat(pushed.tick(550 * MILLI).action()).isEqualTo(Action.RENEW);
        LeaseState confirmed = pushed.tick(550 * MILLI)
                .lease()
                .renewed(550 * MILLI, LEASE, true, 551 * MILLI)
                .lease();
        assertThat(confirmed.validUntilNanos()).isEqualTo(550 * MILLI + DEADLINE);
        assertThat(confirmed.tick(25_000 * MILLI).action()).isEqualTo(autoRenew ? Action.RENEW : Action.NONE);
    }

    @Test
    void aShortPushedGrantIsRenewedAfterATenthOfIt() {
        long valid = Validity.until(0, 10 * MILLI);

        LeaseState pushed =
                LeaseState.of(Hold.granted(7, 1, Answered.EACH, 0, NOT_RENEWED), 0, 10 * MILLI, Certainty.PUSHED);

        assertThat(pushed.wakeAtNanos()).isEqualTo(valid / 10);
    }

    @Test
    void aGrantInDoubtIsRenewedAtOnce() {
        LeaseState doubted =
                LeaseState.of(Hold.granted(7, 1, Answered.EACH, 5 * MILLI, NOT_RENEWED), 0, LEASE, Certainty.DOUBTED);

        assertThat(doubted.wakeAtNanos()).isEqualTo(5 * MILLI);
        assertThat(doubted.tick(5 * MILLI).action()).isEqualTo(Action.RENEW);
    }

    @Test
    void aPushedGrantWhoseConfirmationFailsIsTriedAgain() {
        LeaseState failed = LeaseState.of(
                        Hold.granted(7, 1, Answered.EACH, 0, NOT_RENEWED), 0, 2_000 * MILLI, Certainty.PUSHED)
                .tick(50 * MILLI)
                .lease()
                .renewalFailed(true, 500 * MILLI)
                .lease();

        assertThat(failed.wakeAtNanos()).isLessThan(1_000 * MILLI);
        assertThat(failed.tick(failed.wakeAtNanos()).action()).isEqualTo(Action.RENEW);
    }

    @Test
    void aSignalIsVerifiedAtOnce() {
        LeaseState doubted = granted(NOT_RENEWED).unwatched(1_000 * MILLI).lease();

        assertThat(doubted.wakeAtNanos()).isEqualTo(1_000 * MILLI);
        assertThat(doubted.tick(1_000 * MILLI).action()).isEqualTo(Action.RENEW);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSignalDuringARenewalLeadsToAnotherRenewal(boolean automatic) {
        long sent = 10_000 * MILLI;
        LeaseState renewing = automatic ? granted(RENEWED).tick(sent).lease() : granted(RENEWED);
        LeaseState doubted = renewing.unwatched(sent + 1).lease();

        LeaseState answered = doubted.renewed(sent, LEASE, automatic, sent + 2).lease();

        assertThat(answered.validUntilNanos()).isEqualTo(sent + DEADLINE);
        assertThat(answered.tick(sent + 2).action()).isEqualTo(Action.RENEW);
        LeaseState verified = answered.tick(sent + 2)
                .lease()
                .renewed(sent + 2, LEASE, true, sent + 3)
                .lease();
        assertThat(verified.tick(sent + 4).action()).isEqualTo(Action.NONE);
    }

    /** That request may arrive after the lease was denied. */
    @Test
    void aDeniedReaderIsReleasedIfARequestToDowngradeWasNeverAnswered() {
        LeaseState asked = granted(RENEWED).downgradeAsked(1_000 * MILLI).lease();
        LeaseState askedAgain =
                asked.downgradeFailed(2_000 * MILLI).lease().tick(5_000 * MILLI).lease();

        assertThat(readerOf(asked).renewalDenied().action()).isEqualTo(Action.SIGNAL_LOSS);
        assertThat(readerOf(askedAgain).renewalDenied().action()).isEqualTo(Action.SIGNAL_LOSS_AND_RELEASE);
        assertThat(askedAgain.renewalDenied().action()).isEqualTo(Action.SIGNAL_LOSS_AND_RELEASE);
    }

    private static LeaseState readerOf(LeaseState asked) {
        LeaseState reader =
                asked.downgraded(5_000 * MILLI, LEASE, 5_001 * MILLI).lease();
        assertThat(reader.isReader()).isTrue();
        return reader;
    }

    @Test
    void noRenewalHoldsALeaseBeyondMaxHoldTime() {
        long bound = 40_000 * MILLI;
        LeaseState state = LeaseState.of(
                Hold.granted(7, 1, Answered.EACH, 0, Acquiring.terms(true, Duration.ofNanos(bound))),
                0,
                LEASE,
                Certainty.CONFIRMED);
        LeaseState renewed =
                state.renewed(20_000 * MILLI, LEASE, true, 20_001 * MILLI).lease();

        assertThat(state.validUntilNanos()).isEqualTo(DEADLINE);
        assertThat(renewed.validUntilNanos()).isEqualTo(bound);
        assertThat(renewed.tick(bound).lease().phase()).isEqualTo(Phase.LOST);
    }

    private static LeaseState granted(LockTerms terms) {
        return LeaseState.of(Hold.granted(7, 1, Answered.EACH, 0, terms), 0, LEASE, Certainty.CONFIRMED);
    }
}
