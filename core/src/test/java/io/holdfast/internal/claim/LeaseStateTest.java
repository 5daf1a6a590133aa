package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.claim.LeaseState.Phase;
import io.holdfast.internal.engine.LeaseTerms;
import io.holdfast.internal.run.Validity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeaseStateTest {

    private static final long MILLI = 1_000_000;
    private static final long LEASE = 30_000 * MILLI;
    private static final long DEADLINE = 29_698 * MILLI;
    private static final LeaseTerms RENEWED = new LeaseTerms(true, false, 0, 0);
    private static final LeaseTerms NOT_RENEWED = new LeaseTerms(false, false, 0, 0);

    @Test
    void itIsValidUntilTheDeadlineAndNotAtIt() {
        LeaseState state = granted(RENEWED);

        assertThat(state.validUntilNanos()).isEqualTo(DEADLINE);
        assertThat(state.isValid(DEADLINE - 1)).isTrue();
        assertThat(state.isValid(DEADLINE)).isFalse();
    }

    @Test
    void itIsNotValidOnceReleaseIsAsked() {
        assertThat(granted(RENEWED).releaseAsked(0).state().isValid(1)).isFalse();
    }

    @Test
    void aRenewalExtendsFromItsSendTimeAndNotFromItsAnswer() {
        LeaseState state = granted(RENEWED)
                .renewed(10_000 * MILLI, LEASE, true, 11_000 * MILLI)
                .state();

        assertThat(state.validUntilNanos()).isEqualTo(10_000 * MILLI + DEADLINE);
        assertThat(state.wakeAtNanos()).isBetween(19_000 * MILLI, 20_000 * MILLI);
    }

    @Test
    void aRenewalWithAShorterLeaseShortensTheLease() {
        LeaseState state = granted(RENEWED)
                .renewed(10_000 * MILLI, 1_000 * MILLI, true, 10_001 * MILLI)
                .state();

        assertThat(state.validUntilNanos()).isEqualTo((10_000 + 1_000 - 10 - 2) * MILLI);
    }

    @Test
    void anAnswerToAnEarlierRenewalDoesNotTakeBackALaterOne() {
        LeaseState later = granted(RENEWED)
                .renewed(10_000 * MILLI, LEASE, false, 10_001 * MILLI)
                .state();

        LeaseState state =
                later.renewed(9_000 * MILLI, LEASE, true, 10_002 * MILLI).state();

        assertThat(state.validUntilNanos()).isEqualTo(later.validUntilNanos());
    }

    @Test
    void anEndByTheLongestHoldTimeDiffersFromOneByTheDeadline() {
        LeaseTerms bounded = new LeaseTerms(true, true, 20_000 * MILLI, 0);

        assertThat(granted(bounded).tick(20_000 * MILLI).state().reachedLongestHold())
                .isTrue();
        assertThat(granted(RENEWED).tick(DEADLINE).state().reachedLongestHold()).isFalse();
        assertThat(granted(bounded).renewalDenied().state().reachedLongestHold())
                .isFalse();
    }

    @Test
    void anAnswerWithAZeroLeaseIsNotTheLongestHoldTime() {
        LeaseState held = granted(new LeaseTerms(true, true, 20_000 * MILLI, 0));

        LeaseState lost =
                held.renewed(10_000 * MILLI, MILLI, true, 11_000 * MILLI).state();

        assertThat(lost.phase()).isEqualTo(Phase.LOST);
        assertThat(lost.reachedLongestHold()).isFalse();
    }

    @Test
    void oneRenewalIsInFlightAtATime() {
        LeaseState renewing = granted(RENEWED).tick(10_000 * MILLI).state();

        assertThat(renewing.tick(11_000 * MILLI).action()).isEqualTo(LeaseAction.NONE);
        assertThat(renewing.wakeAtNanos()).isEqualTo(DEADLINE);
    }

    @Test
    void aFailedRenewalIsRepeatedSoonAndKeepsTheDeadline() {
        long failedAt = 12_000 * MILLI;
        LeaseState failed = granted(RENEWED)
                .tick(10_000 * MILLI)
                .state()
                .renewalFailed(true, failedAt)
                .state();

        assertThat(failed.validUntilNanos()).isEqualTo(DEADLINE);
        assertThat(failed.failures()).isEqualTo(1);
        assertThat(failed.wakeAtNanos()).isBetween(failedAt + 10 * MILLI, failedAt + 1_000 * MILLI);
        assertThat(failed.tick(failed.wakeAtNanos()).action()).isEqualTo(LeaseAction.RENEW);
        assertThat(failed.renewed(failedAt, LEASE, true, failedAt + 1).state().failures())
                .isZero();
    }

    @Test
    void withoutAutoRenewNothingIsRenewed() {
        LeaseState state = granted(NOT_RENEWED);

        assertThat(state.wakeAtNanos()).isEqualTo(DEADLINE);
        assertThat(state.tick(20_000 * MILLI).action()).isEqualTo(LeaseAction.NONE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPushedGrantIsRenewedSoonAlsoWithoutAutoRenew(boolean autoRenew) {
        LeaseTerms terms = new LeaseTerms(autoRenew, false, 0, 0);
        LeaseState pushed = LeaseState.of(new Grant(7, 0, 2_000 * MILLI, Grant.Standing.PUSHED), 1, terms, 500 * MILLI);

        assertThat(pushed.wakeAtNanos()).isEqualTo(550 * MILLI);
        assertThat(pushed.tick(549 * MILLI).action()).isEqualTo(LeaseAction.NONE);
        assertThat(pushed.tick(550 * MILLI).action()).isEqualTo(LeaseAction.RENEW);
        LeaseState confirmed = pushed.tick(550 * MILLI)
                .state()
                .renewed(550 * MILLI, LEASE, true, 551 * MILLI)
                .state();
        assertThat(confirmed.validUntilNanos()).isEqualTo(550 * MILLI + DEADLINE);
        assertThat(confirmed.tick(25_000 * MILLI).action()).isEqualTo(autoRenew ? LeaseAction.RENEW : LeaseAction.NONE);
    }

    @Test
    void aShortPushedGrantIsRenewedAfterATenthOfIt() {
        long valid = Validity.until(0, 10 * MILLI);

        LeaseState pushed = LeaseState.of(new Grant(7, 0, 10 * MILLI, Grant.Standing.PUSHED), 1, NOT_RENEWED, 0);

        assertThat(pushed.wakeAtNanos()).isEqualTo(valid / 10);
    }

    @Test
    void aGrantInDoubtIsRenewedAtOnce() {
        LeaseState doubted = LeaseState.of(new Grant(7, 0, LEASE, Grant.Standing.DOUBTED), 1, NOT_RENEWED, 5 * MILLI);

        assertThat(doubted.wakeAtNanos()).isEqualTo(5 * MILLI);
        assertThat(doubted.tick(5 * MILLI).action()).isEqualTo(LeaseAction.RENEW);
    }

    @Test
    void aPushedGrantWhoseConfirmationFailsIsTriedAgain() {
        LeaseState failed = LeaseState.of(new Grant(7, 0, 2_000 * MILLI, Grant.Standing.PUSHED), 1, NOT_RENEWED, 0)
                .tick(50 * MILLI)
                .state()
                .renewalFailed(true, 500 * MILLI)
                .state();

        assertThat(failed.wakeAtNanos()).isLessThan(1_000 * MILLI);
        assertThat(failed.tick(failed.wakeAtNanos()).action()).isEqualTo(LeaseAction.RENEW);
    }

    @Test
    void aSignalIsVerifiedAtOnce() {
        LeaseState doubted = granted(NOT_RENEWED).verify(1_000 * MILLI).state();

        assertThat(doubted.wakeAtNanos()).isEqualTo(1_000 * MILLI);
        assertThat(doubted.tick(1_000 * MILLI).action()).isEqualTo(LeaseAction.RENEW);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSignalDuringARenewalLeadsToAnotherRenewal(boolean automatic) {
        long sent = 10_000 * MILLI;
        LeaseState renewing = automatic ? granted(RENEWED).tick(sent).state() : granted(RENEWED);
        LeaseState doubted = renewing.verify(sent + 1).state();

        LeaseState answered = doubted.renewed(sent, LEASE, automatic, sent + 2).state();

        assertThat(answered.validUntilNanos()).isEqualTo(sent + DEADLINE);
        assertThat(answered.tick(sent + 2).action()).isEqualTo(LeaseAction.RENEW);
        LeaseState verified = answered.tick(sent + 2)
                .state()
                .renewed(sent + 2, LEASE, true, sent + 3)
                .state();
        assertThat(verified.tick(sent + 4).action()).isEqualTo(LeaseAction.NONE);
    }

    @Test
    void noRenewalHoldsALeaseBeyondMaxHoldTime() {
        long bound = 40_000 * MILLI;
        LeaseState state = LeaseState.of(
                new Grant(7, 0, LEASE, Grant.Standing.CONFIRMED), 1, new LeaseTerms(true, true, bound, 0), 0);
        LeaseState renewed =
                state.renewed(20_000 * MILLI, LEASE, true, 20_001 * MILLI).state();

        assertThat(state.validUntilNanos()).isEqualTo(DEADLINE);
        assertThat(renewed.validUntilNanos()).isEqualTo(bound);
        assertThat(renewed.tick(bound).state().phase()).isEqualTo(Phase.LOST);
    }

    private static LeaseState granted(LeaseTerms terms) {
        return LeaseState.of(new Grant(7, 0, LEASE, Grant.Standing.CONFIRMED), 1, terms, 0);
    }
}
