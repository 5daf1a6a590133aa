package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.claim.AcquireState.Phase;
import io.holdfast.internal.claim.AcquireState.Step;
import io.holdfast.internal.engine.AcquirePlan.Mode;
import io.holdfast.spi.LockAttempt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class AcquireStateTest {

    private static final long NOW = Acquiring.millis(5);

    @ParameterizedTest
    @EnumSource(Mode.class)
    void itStartsWithTheFirstAttempt(Mode mode) {
        Step step = Acquiring.start(Acquiring.plan(mode, false), false, NOW);

        assertThat(step.action()).isEqualTo(new AcquireAction.Attempt(1));
        assertThat(step.state().attempt()).isEqualTo(1);
    }

    @Test
    void itKnowsWhetherTheLastAttemptThatEndedWasAnswered() {
        AcquireState asked = Acquiring.started(Mode.WAIT);
        AcquireState failed = asked.attemptFailed(1, Acquiring.failure(true), Acquiring.millis(10), 0)
                .state();
        AcquireState askedAgain = failed.pauseOver(Acquiring.millis(100)).state();
        AcquireState queued = askedAgain
                .answered(2, Acquiring.queued(100), Acquiring.millis(110), 0)
                .state();
        AcquireState pending = queued.pauseOver(Acquiring.millis(210)).state();

        assertThat(asked.isAnswered()).isFalse();
        assertThat(failed.isAnswered()).isFalse();
        assertThat(askedAgain.isAnswered()).isFalse();
        assertThat(queued.isAnswered()).isTrue();
        assertThat(queued.lastFailure()).isNotNull();
        assertThat(pending.isAnswered()).isTrue();
        assertThat(pending.attemptFailed(3, Acquiring.failure(true), Acquiring.millis(220), 0)
                        .state()
                        .isAnswered())
                .isFalse();
    }

    @Test
    void anAnsweredLeaseCountsFromTheSendTimeOfItsAttempt() {
        Grant grant =
                delivered(Acquiring.started(Mode.WAIT).answered(1, Acquiring.acquired(), Acquiring.millis(500), 0));

        assertThat(grant.sentAtNanos()).isZero();
        assertThat(grant.standing()).isEqualTo(Grant.Standing.CONFIRMED);
        assertThat(grant.validUntilNanos()).isEqualTo(Acquiring.millis(30_000 - 300 - 2));
    }

    @Test
    void aPushedGrantCountsFromTheSendTimeOfTheAttemptThatItNames() {
        AcquireState state = Acquiring.started(Mode.WAIT)
                .attemptFailed(1, Acquiring.failure(true), Acquiring.millis(100), 0)
                .state()
                .pauseOver(Acquiring.millis(200))
                .state();

        Grant first = delivered(state.granted(Acquiring.granted(1, 2_000), true, Acquiring.millis(300)));
        Grant second = delivered(state.granted(Acquiring.granted(2, 2_000), true, Acquiring.millis(300)));

        assertThat(first.sentAtNanos()).isZero();
        assertThat(second.sentAtNanos()).isEqualTo(Acquiring.millis(200));
        assertThat(first.standing()).isEqualTo(Grant.Standing.PUSHED);
    }

    @Test
    void aGrantThatNamesAnAttemptBeforeAnAnsweredOneIsIgnored() {
        AcquireState state = Acquiring.started(Mode.WAIT)
                .answered(1, Acquiring.queued(100), Acquiring.millis(10), 0)
                .state()
                .pauseOver(Acquiring.millis(110))
                .state()
                .answered(2, Acquiring.queued(100), Acquiring.millis(120), 0)
                .state();

        Step step = state.granted(Acquiring.granted(1, 2_000), true, Acquiring.millis(130));

        assertThat(step.action()).isEqualTo(new AcquireAction.Attempt(3));
    }

    @Test
    void aPushedGrantBecomesAWholeLeaseWhereThePlanNeedsIt() {
        AcquireState state = Acquiring.start(Acquiring.wholeLeasePlan(), true, 0)
                .state()
                .answered(1, Acquiring.queued(100), Acquiring.millis(10), 0)
                .state();

        Step step = state.granted(Acquiring.granted(1, 2_000), true, Acquiring.millis(20));

        assertThat(step.action()).isEqualTo(new AcquireAction.Attempt(2));
        assertThat(delivered(step.state().answered(2, Acquiring.acquired(), Acquiring.millis(30), 0))
                        .standing())
                .isEqualTo(Grant.Standing.CONFIRMED);
    }

    @Test
    void aLossSignalledBeforeTheAnswerPutsTheGrantInDoubt() {
        Step granted = Acquiring.started(Mode.WAIT).lost(NOW).state().answered(1, Acquiring.acquired(), NOW, 0);

        assertThat(granted.action())
                .isInstanceOfSatisfying(
                        AcquireAction.Deliver.class,
                        deliver -> assertThat(deliver.grant().standing()).isEqualTo(Grant.Standing.DOUBTED));
    }

    @Test
    void aLossSignalledBeforeAPushPutsTheGrantInDoubt() {
        AcquireState lost = Acquiring.started(Mode.WAIT).lost(NOW).state();

        Grant pushed = delivered(lost.granted(Acquiring.granted(1, 2_000), true, NOW));

        assertThat(pushed.standing()).isEqualTo(Grant.Standing.DOUBTED);
    }

    @Test
    void aLossSignalledBeforeTheAttemptWasSentPutsNoGrantInDoubt() {
        AcquireState attemptingAgain = Acquiring.started(Mode.WAIT)
                .lost(NOW)
                .state()
                .answered(1, Acquiring.queued(10_000), NOW, 0)
                .state();

        assertThat(attemptingAgain.answered(2, Acquiring.acquired(), NOW, 0).action())
                .isInstanceOfSatisfying(
                        AcquireAction.Deliver.class,
                        deliver -> assertThat(deliver.grant().standing()).isEqualTo(Grant.Standing.CONFIRMED));
    }

    @ParameterizedTest
    @CsvSource({"armed", "changed", "lost", "disarmed", "granted late"})
    void aSignalDuringAnAttemptLeadsToAnotherAttemptAsSoonAsItIsAnswered(String signal) {
        AcquireState attempting = Acquiring.started(Mode.WAIT);
        AcquireState signalled = switch (signal) {
            case "armed" -> attempting.armed(NOW).state();
            case "changed" -> attempting.changed(NOW).state();
            case "lost" -> attempting.lost(NOW).state();
            case "disarmed" -> attempting.disarmed(NOW).state();
            default -> attempting.granted(Acquiring.granted(9, 10), true, NOW).state();
        };

        Step answered = signalled.answered(1, Acquiring.queued(10_000), NOW, 0);

        assertThat(answered.action()).isEqualTo(new AcquireAction.Attempt(2));
        assertThat(answered.state()
                        .answered(2, Acquiring.queued(10_000), NOW, 0)
                        .action())
                .as("once for a signal")
                .isInstanceOf(AcquireAction.Pause.class);
    }

    @ParameterizedTest
    @CsvSource({
        // armed, answer, within, pause: the first back-off is 20 ms
        "true, queued, 10000, 10000",
        "true, contended, 10000, 20",
        "false, queued, 10000, 20",
        "false, contended, 10000, 20",
        "false, queued, 10, 10",
        "true, contended, 10, 10",
    })
    void theStoresLimitCountsInAQueueAndTheBackoffElsewhere(boolean armed, String answer, long within, long pause) {
        LockAttempt notNow = answer.equals("queued") ? Acquiring.queued(within) : Acquiring.contended(within);

        Step step = Acquiring.start(Acquiring.plan(Mode.WAIT, false), armed, 0)
                .state()
                .answered(1, notNow, NOW, 0);

        assertThat(step.action()).isEqualTo(new AcquireAction.Pause(NOW + Acquiring.millis(pause)));
    }

    @Test
    void whenTheSignalsStopTheBackEndIsPolled() {
        AcquireState state = Acquiring.started(Mode.WAIT).disarmed(NOW).state();

        Step second = state.answered(1, Acquiring.queued(10_000), NOW, 0);
        Step polled = second.state().answered(2, Acquiring.queued(10_000), NOW, 0);

        assertThat(polled.action()).isEqualTo(new AcquireAction.Pause(NOW + Acquiring.millis(40)));
    }

    @ParameterizedTest
    @CsvSource({"TRY, NotAvailable", "ONE_ATTEMPT, TimedOut"})
    void oneAttemptIsAll(Mode mode, String end) {
        Step step = Acquiring.started(mode).answered(1, Acquiring.contended(10), NOW, 0);

        assertThat(Acquiring.action(step)).isEqualTo(end);
        assertThat(step.state().phase()).isEqualTo(Phase.ENDED);
    }

    @ParameterizedTest
    @CsvSource({
        "TRY, true, Failed",
        "TRY, false, Failed",
        "ONE_ATTEMPT, true, TimedOut+withdraw",
        "ONE_ATTEMPT, false, Failed",
    })
    void oneAttemptThatFailsEndsWithAWithdrawal(Mode mode, boolean isTransient, String end) {
        Step step = Acquiring.started(mode).attemptFailed(1, Acquiring.failure(isTransient), NOW, 0);

        assertThat(Acquiring.action(step)).isEqualTo(end);
        assertThat(step.state().lastFailure()).isNotNull();
    }

    @ParameterizedTest
    @EnumSource(value = Mode.class, names = "WAIT", mode = EnumSource.Mode.EXCLUDE)
    void oneAttemptThatFoundTheLockTakenLeavesNothingToWithdraw(Mode mode) {
        AcquireState leaving = Acquiring.started(mode).left().state();

        assertThat(Acquiring.action(leaving.answered(1, Acquiring.contended(10), NOW, 0)))
                .isEqualTo("None");
        assertThat(Acquiring.action(leaving.answered(1, Acquiring.acquired(), NOW, 0)))
                .isEqualTo("Withdraw");
        assertThat(Acquiring.action(leaving.attemptFailed(1, Acquiring.failure(true), NOW, 0)))
                .isEqualTo("Withdraw");
    }

    @Test
    void withoutATimeLimitTransientFailuresAreRetriedForOneLeaseInARow() {
        Failing failing = new Failing(false);

        failing.attemptUntil(29_999);
        assertThat(failing.last.action()).isInstanceOf(AcquireAction.Pause.class);
        failing.attemptUntil(30_000);

        assertThat(Acquiring.action(failing.last)).isEqualTo("Failed");
    }

    @Test
    void withATimeLimitTransientFailuresAreRetriedUntilIt() {
        Failing failing = new Failing(true);

        failing.attemptUntil(29_999);
        failing.attemptUntil(10 * Acquiring.LEASE_MILLIS);

        assertThat(failing.last.action()).isInstanceOf(AcquireAction.Pause.class);
        assertThat(Acquiring.action(failing.last.state().timedOut())).isEqualTo("TimedOut+withdraw");
        assertThat(failing.last.state().lastFailure()).isNotNull();
    }

    @Test
    void anAnswerBetweenFailuresStartsTheCountAgain() {
        Failing failing = new Failing(false);
        failing.attemptUntil(29_000);
        failing.answerAt(29_500);

        failing.attemptUntil(30_000);

        assertThat(failing.last.action()).isEqualTo(new AcquireAction.Pause(Acquiring.millis(30_020)));
    }

    @Test
    void aFailureWithRetryAfterDelaysTheNextAttemptAndIsNotCounted() {
        AcquireState state = Acquiring.started(Mode.WAIT)
                .attemptFailed(1, Acquiring.failure(true), Acquiring.millis(20_000), 0)
                .state()
                .pauseOver(Acquiring.millis(20_020))
                .state();

        Step waits = state.attemptFailed(2, Acquiring.notYet(90_000), Acquiring.millis(40_000), 0);
        assertThat(waits.action()).isEqualTo(new AcquireAction.Pause(Acquiring.millis(130_020)));
        Step again = waits.state()
                .pauseOver(Acquiring.millis(130_020))
                .state()
                .attemptFailed(3, Acquiring.failure(true), Acquiring.millis(130_100), 0);
        assertThat(again.action()).isInstanceOf(AcquireAction.Pause.class);
        assertThat(again.state().isAnswered()).isFalse();
    }

    /** The clock may be below zero, as {@link System#nanoTime} may be. */
    @Test
    void aSignalCausesAnAttemptAtOnceEvenIfTheClockIsBelowZero() {
        long now = -Acquiring.millis(1_000_000);
        AcquireState waits = Acquiring.start(Acquiring.plan(Mode.WAIT, false), true, now)
                .state()
                .attemptFailed(1, Acquiring.notYet(90_000), now, 0)
                .state();

        assertThat(waits.changed(now).action()).isEqualTo(new AcquireAction.Attempt(2));
    }

    @Test
    void aRetryAfterOfYearsIsBounded() {
        Step step = Acquiring.started(Mode.WAIT).attemptFailed(1, Acquiring.notYet(Long.MAX_VALUE), 0, 0);

        assertThat(step.action()).isEqualTo(new AcquireAction.Pause(Acquiring.millis(86_400_020)));
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aLateGrantIsTriedAgainSoonEvenWithoutWaiting(Mode mode) {
        long late = Acquiring.millis(Acquiring.LEASE_MILLIS + 300);

        Step first = Acquiring.started(mode).answered(1, Acquiring.acquired(), late, 0);
        assertThat(first.action()).isEqualTo(new AcquireAction.Pause(late + Acquiring.millis(20)));
        Step second = first.state()
                .pauseOver(late + Acquiring.millis(20))
                .state()
                .answered(2, Acquiring.acquired(), 2 * late, 0);
        assertThat(Acquiring.action(second)).isEqualTo(mode == Mode.WAIT ? "Pause" : "GrantedTooLate");
    }

    @ParameterizedTest
    @CsvSource({"TRY, Failed", "ONE_ATTEMPT, TimedOut+withdraw"})
    void oneAttemptDoesNotWaitForTheQuarantine(Mode mode, String end) {
        assertThat(Acquiring.action(Acquiring.started(mode).attemptFailed(1, Acquiring.notYet(90_000), NOW, 0)))
                .isEqualTo(end);
    }

    private static Grant delivered(Step step) {
        assertThat(step.action()).isInstanceOf(AcquireAction.Deliver.class);
        return ((AcquireAction.Deliver) step.action()).grant();
    }

    /** An acquisition whose back end fails; the first attempt is sent at 0. */
    private static final class Failing {

        Step last;

        Failing(boolean limited) {
            last = Acquiring.start(Acquiring.plan(Mode.WAIT, limited), true, 0);
        }

        /** Fails the attempt in flight at that time; if none is in flight, one is sent just before. */
        void attemptUntil(long millis) {
            AcquireState attempting = attempting(millis);
            last = attempting.attemptFailed(attempting.attempt(), Acquiring.failure(true), Acquiring.millis(millis), 0);
        }

        void answerAt(long millis) {
            AcquireState attempting = attempting(millis);
            last = attempting.answered(attempting.attempt(), Acquiring.queued(10), Acquiring.millis(millis), 0);
        }

        private AcquireState attempting(long millis) {
            AcquireState state = last.state();
            return state.phase() == Phase.PAUSING
                    ? state.pauseOver(Acquiring.millis(millis)).state()
                    : state;
        }
    }

    @Test
    void waitEndsAtItsLimitAndNotBefore() {
        AcquireState attempting = AcquireState.ready(false)
                .begin(Acquiring.plan(Mode.WAIT, true), true, Acquiring.millis(100), 0)
                .state();
        assertThat(attempting.wakeAtNanos()).isEqualTo(Acquiring.millis(100));
        AcquireState waits =
                attempting.answered(1, Acquiring.queued(10_000), NOW, 0).state();
        assertThat(waits.wakeAtNanos()).isEqualTo(Acquiring.millis(100));
        assertThat(Acquiring.action(waits.tick(Acquiring.millis(100) - 1))).isEqualTo("None");
        assertThat(Acquiring.action(waits.tick(Acquiring.millis(100)))).isEqualTo("TimedOut+withdraw");
        assertThat(Acquiring.action(attempting.tick(Acquiring.millis(100)))).isEqualTo("TimedOut");
    }

    @Test
    void pauseEndsAtItsTimeAndNotBefore() {
        AcquireState waits = Acquiring.started(Mode.WAIT)
                .answered(1, Acquiring.queued(10_000), NOW, 0)
                .state();
        assertThat(Acquiring.action(waits.tick(waits.wakeAtNanos() - 1))).isEqualTo("None");
        assertThat(Acquiring.action(waits.tick(waits.wakeAtNanos()))).isEqualTo("Attempt");
    }

    @Test
    void claimThatHasSentNothingEndsWithoutAWithdrawal() {
        AcquireState ready = AcquireState.ready(false);
        assertThat(Acquiring.action(ready.left())).isEqualTo("None");
        assertThat(Acquiring.action(ready.closed())).isEqualTo("Closed");
        assertThat(Acquiring.action(ready.left().state().begin(Acquiring.plan(Mode.WAIT, false), true, 0, 0)))
                .isEqualTo("None");
    }

    /** It holds the lock already. */
    @Test
    void adoptedClaimThatHasSentNothingIsReleasedWhenItLeaves() {
        AcquireState ready = AcquireState.ready(true);
        assertThat(Acquiring.action(ready.left())).isEqualTo("Withdraw");
    }

    /** Its attempt could arrive after the release. */
    @Test
    void grantIsNotHandedOutWhileAnAttemptIsAboutToBeSent() {
        AcquireState attempting = Acquiring.started(Mode.WAIT);
        assertThat(Acquiring.action(attempting.granted(Acquiring.granted(1, 2_000), false, NOW)))
                .isEqualTo("None");
        assertThat(Acquiring.action(attempting.granted(Acquiring.granted(1, 2_000), true, NOW)))
                .isEqualTo("Deliver");
    }
}
