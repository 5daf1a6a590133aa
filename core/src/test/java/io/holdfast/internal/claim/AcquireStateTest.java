package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.internal.claim.AcquireState.Phase;
import io.holdfast.internal.claim.ClaimState.Action;
import io.holdfast.internal.claim.ClaimState.Step;
import io.holdfast.internal.claim.LeaseState.Certainty;
import io.holdfast.internal.engine.LockTerms.Mode;
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

        attempts(1, step);
        assertThat(step.acquiring().attempt()).isEqualTo(1);
    }

    @Test
    void itKnowsWhetherTheLastAttemptThatEndedWasAnswered() {
        AcquireState asked = Acquiring.started(Mode.WAIT);
        AcquireState failed = asked.attemptFailed(1, Acquiring.failure(true), Acquiring.millis(10), 0)
                .acquiring();
        AcquireState askedAgain = failed.pauseOver(Acquiring.millis(100)).acquiring();
        AcquireState queued = askedAgain
                .answered(2, Acquiring.queued(100), Acquiring.millis(110), 0)
                .acquiring();
        AcquireState pending = queued.pauseOver(Acquiring.millis(210)).acquiring();

        assertThat(asked.isAnswered()).isFalse();
        assertThat(failed.isAnswered()).isFalse();
        assertThat(askedAgain.isAnswered()).isFalse();
        assertThat(queued.isAnswered()).isTrue();
        assertThat(queued.failure()).isNotNull();
        assertThat(pending.isAnswered()).isTrue();
        assertThat(pending.attemptFailed(3, Acquiring.failure(true), Acquiring.millis(220), 0)
                        .acquiring()
                        .isAnswered())
                .isFalse();
    }

    @Test
    void anAnsweredLeaseCountsFromTheSendTimeOfItsAttempt() {
        LeaseState grant =
                delivered(Acquiring.started(Mode.WAIT).answered(1, Acquiring.acquired(), Acquiring.millis(500), 0));

        assertThat(grant.sentAtNanos()).isZero();
        assertThat(certainty(grant)).isEqualTo(Certainty.CONFIRMED);
        assertThat(grant.validUntilNanos()).isEqualTo(Acquiring.millis(30_000 - 300 - 2));
    }

    @Test
    void aPushedGrantCountsFromTheSendTimeOfTheAttemptThatItNames() {
        AcquireState state = Acquiring.started(Mode.WAIT)
                .attemptFailed(1, Acquiring.failure(true), Acquiring.millis(100), 0)
                .acquiring()
                .pauseOver(Acquiring.millis(200))
                .acquiring();

        LeaseState first =
                delivered(state.signalled(Acquiring.granted(1, 2_000), Acquiring.ALL_SENT, Acquiring.millis(300)));
        LeaseState second =
                delivered(state.signalled(Acquiring.granted(2, 2_000), Acquiring.ALL_SENT, Acquiring.millis(300)));

        assertThat(first.sentAtNanos()).isZero();
        assertThat(second.sentAtNanos()).isEqualTo(Acquiring.millis(200));
        assertThat(certainty(first)).isEqualTo(Certainty.PUSHED);
    }

    /** The attempt that was never answered may arrive after the lease was denied. */
    @Test
    void aDeniedLeaseIsReleasedIfAnyAttemptWasNeverAnswered() {
        assertThat(deniedAfter(Acquiring.failure(true))).isEqualTo(Action.SIGNAL_LOSS_AND_RELEASE);
        assertThat(deniedAfter(Acquiring.notYet(10)))
                .as("an attempt without an effect")
                .isEqualTo(Action.SIGNAL_LOSS);
        assertThat(deniedAfter(Acquiring.refused()))
                .as("an attempt that is over")
                .isEqualTo(Action.SIGNAL_LOSS);
    }

    /** The store has processed the last attempt, and may take its number for the proof that no other is under way. */
    @Test
    void theReleaseHasALaterNumberIfAnAttemptWasNeverAnswered() {
        assertThat(grantedAfter(Acquiring.failure(true)).hold().releaseAttempt())
                .isEqualTo(4);
        assertThat(grantedAfter(Acquiring.notYet(10)).hold().releaseAttempt()).isEqualTo(3);
        assertThat(grantedAfter(Acquiring.refused()).hold().releaseAttempt()).isEqualTo(3);
        assertThat(Acquiring.started(Mode.WAIT)
                        .attemptFailed(1, Acquiring.failure(true), NOW, 0)
                        .acquiring()
                        .left()
                        .acquiring()
                        .releaseAttempt())
                .isEqualTo(2);
    }

    private static Action deniedAfter(LockBackendException firstFailed) {
        return grantedAfter(firstFailed).renewalDenied().action();
    }

    private static LeaseState grantedAfter(LockBackendException firstFailed) {
        AcquireState queued = Acquiring.started(Mode.WAIT)
                .attemptFailed(1, firstFailed, Acquiring.millis(10), 0)
                .acquiring()
                .pauseOver(Acquiring.millis(100))
                .acquiring()
                .answered(2, Acquiring.queued(100), Acquiring.millis(110), 0)
                .acquiring()
                .pauseOver(Acquiring.millis(210))
                .acquiring();
        return delivered(queued.answered(3, Acquiring.acquired(), Acquiring.millis(220), 0));
    }

    @Test
    void anAdoptedClaimIsReleasedThoughItIsDenied() {
        Step attempting =
                AcquireState.ready(3).begin(Acquiring.plan(Mode.TRY, false).terms(), Mode.TRY, false, NOW, NOW);
        Step adopted = attempting.acquiring().answered(1, Acquiring.acquired(), NOW, 0);

        Step denied = attempting.acquiring().answered(1, Acquiring.contended(100), NOW, 0);
        Step deniedToACancelledOne =
                attempting.acquiring().left().acquiring().answered(1, Acquiring.contended(100), NOW, 0);

        assertThat(Acquiring.action(denied)).isEqualTo("NOT_AVAILABLE+withdraw");
        assertThat(Acquiring.action(deniedToACancelledOne)).isEqualTo("NONE+withdraw");
        assertThat(delivered(adopted).renewalDenied().action()).isEqualTo(Action.SIGNAL_LOSS_AND_RELEASE);
    }

    @Test
    void aGrantThatNamesAnAttemptBeforeAnAnsweredOneIsIgnored() {
        AcquireState state = Acquiring.started(Mode.WAIT)
                .answered(1, Acquiring.queued(100), Acquiring.millis(10), 0)
                .acquiring()
                .pauseOver(Acquiring.millis(110))
                .acquiring()
                .answered(2, Acquiring.queued(100), Acquiring.millis(120), 0)
                .acquiring();

        Step step = state.signalled(Acquiring.granted(1, 2_000), Acquiring.ALL_SENT, Acquiring.millis(130));

        attempts(3, step);
    }

    @Test
    void aPushedGrantBecomesAWholeLeaseWhereThePlanNeedsIt() {
        AcquireState state = Acquiring.start(Acquiring.wholeLeasePlan(), true, 0)
                .acquiring()
                .answered(1, Acquiring.queued(100), Acquiring.millis(10), 0)
                .acquiring();

        Step step = state.signalled(Acquiring.granted(1, 2_000), Acquiring.ALL_SENT, Acquiring.millis(20));

        attempts(2, step);
        assertThat(certainty(delivered(step.acquiring().answered(2, Acquiring.acquired(), Acquiring.millis(30), 0))))
                .isEqualTo(Certainty.CONFIRMED);
    }

    @Test
    void aLossSignalledBeforeTheAnswerPutsTheGrantInDoubt() {
        Step granted = Acquiring.started(Mode.WAIT)
                .signalled(Acquiring.LOST, Acquiring.ALL_SENT, NOW)
                .acquiring()
                .answered(1, Acquiring.acquired(), NOW, 0);

        assertThat(certainty(delivered(granted))).isEqualTo(Certainty.DOUBTED);
    }

    @Test
    void aLossSignalledBeforeAPushPutsTheGrantInDoubt() {
        AcquireState lost = Acquiring.started(Mode.WAIT)
                .signalled(Acquiring.LOST, Acquiring.ALL_SENT, NOW)
                .acquiring();

        LeaseState pushed = delivered(lost.signalled(Acquiring.granted(1, 2_000), Acquiring.ALL_SENT, NOW));

        assertThat(certainty(pushed)).isEqualTo(Certainty.DOUBTED);
    }

    @Test
    void aLossSignalledBeforeTheAttemptWasSentPutsNoGrantInDoubt() {
        AcquireState attemptingAgain = Acquiring.started(Mode.WAIT)
                .signalled(Acquiring.LOST, Acquiring.ALL_SENT, NOW)
                .acquiring()
                .answered(1, Acquiring.queued(10_000), NOW, 0)
                .acquiring();

        assertThat(certainty(delivered(attemptingAgain.answered(2, Acquiring.acquired(), NOW, 0))))
                .isEqualTo(Certainty.CONFIRMED);
    }

    @ParameterizedTest
    @CsvSource({"armed", "changed", "lost", "disarmed", "granted late"})
    void aSignalDuringAnAttemptLeadsToAnotherAttemptAsSoonAsItIsAnswered(String signal) {
        AcquireState attempting = Acquiring.started(Mode.WAIT);
        AcquireState signalled = switch (signal) {
            case "armed" ->
                attempting.signalled(Acquiring.ARMED, Acquiring.ALL_SENT, NOW).acquiring();
            case "changed" ->
                attempting.signalled(Acquiring.CHANGED, Acquiring.ALL_SENT, NOW).acquiring();
            case "lost" ->
                attempting.signalled(Acquiring.LOST, Acquiring.ALL_SENT, NOW).acquiring();
            case "disarmed" -> attempting.unwatched(NOW).acquiring();
            default ->
                attempting
                        .signalled(Acquiring.granted(9, 10), Acquiring.ALL_SENT, NOW)
                        .acquiring();
        };

        Step answered = signalled.answered(1, Acquiring.queued(10_000), NOW, 0);

        attempts(2, answered);
        assertThat(answered.acquiring()
                        .answered(2, Acquiring.queued(10_000), NOW, 0)
                        .acquiring()
                        .phase())
                .as("once for a signal")
                .isEqualTo(Phase.PAUSING);
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
                .acquiring()
                .answered(1, notNow, NOW, 0);

        pausesUntil(NOW + Acquiring.millis(pause), step);
    }

    @Test
    void whenTheSignalsStopTheBackEndIsPolled() {
        AcquireState state = Acquiring.started(Mode.WAIT).unwatched(NOW).acquiring();

        Step second = state.answered(1, Acquiring.queued(10_000), NOW, 0);
        Step polled = second.acquiring().answered(2, Acquiring.queued(10_000), NOW, 0);

        pausesUntil(NOW + Acquiring.millis(40), polled);
    }

    @ParameterizedTest
    @CsvSource({"TRY, NOT_AVAILABLE", "ONE_ATTEMPT, TIMED_OUT"})
    void oneAttemptIsAll(Mode mode, String end) {
        Step step = Acquiring.started(mode).answered(1, Acquiring.contended(10), NOW, 0);

        assertThat(Acquiring.action(step)).isEqualTo(end);
        assertThat(step.acquiring().phase()).isEqualTo(Phase.ENDED);
    }

    @ParameterizedTest
    @CsvSource({
        "TRY, true, FAIL+withdraw",
        "TRY, false, FAIL+withdraw",
        "ONE_ATTEMPT, true, TIMED_OUT+withdraw",
        "ONE_ATTEMPT, false, FAIL+withdraw",
    })
    void oneAttemptThatFailsEndsWithAWithdrawal(Mode mode, boolean isTransient, String end) {
        Step step = Acquiring.started(mode).attemptFailed(1, Acquiring.failure(isTransient), NOW, 0);

        assertThat(Acquiring.action(step)).isEqualTo(end);
        assertThat(step.acquiring().failure()).isNotNull();
    }

    @ParameterizedTest
    @EnumSource(value = Mode.class, names = "WAIT", mode = EnumSource.Mode.EXCLUDE)
    void oneAttemptThatFoundTheLockTakenLeavesNothingToWithdraw(Mode mode) {
        AcquireState leaving = Acquiring.started(mode).left().acquiring();

        assertThat(Acquiring.action(leaving.answered(1, Acquiring.contended(10), NOW, 0)))
                .isEqualTo("NONE");
        assertThat(Acquiring.action(leaving.answered(1, Acquiring.acquired(), NOW, 0)))
                .isEqualTo("NONE+withdraw");
        assertThat(Acquiring.action(leaving.attemptFailed(1, Acquiring.failure(true), NOW, 0)))
                .isEqualTo("NONE+withdraw");
    }

    @Test
    void withoutATimeLimitTransientFailuresAreRetriedForOneLeaseInARow() {
        Failing failing = new Failing(false);

        failing.attemptUntil(29_999);
        assertThat(failing.last.acquiring().phase()).isEqualTo(Phase.PAUSING);
        failing.attemptUntil(30_000);

        assertThat(Acquiring.action(failing.last)).isEqualTo("FAIL+withdraw");
    }

    @Test
    void withATimeLimitTransientFailuresAreRetriedUntilIt() {
        Failing failing = new Failing(true);

        failing.attemptUntil(29_999);
        failing.attemptUntil(10 * Acquiring.LEASE_MILLIS);

        assertThat(failing.last.acquiring().phase()).isEqualTo(Phase.PAUSING);
        assertThat(Acquiring.action(failing.last.acquiring().timedOut())).isEqualTo("TIMED_OUT+withdraw");
        assertThat(failing.last.acquiring().failure()).isNotNull();
    }

    @Test
    void anAnswerBetweenFailuresStartsTheCountAgain() {
        Failing failing = new Failing(false);
        failing.attemptUntil(29_000);
        failing.answerAt(29_500);

        failing.attemptUntil(30_000);

        pausesUntil(Acquiring.millis(30_020), failing.last);
    }

    @Test
    void aFailureWithRetryAfterDelaysTheNextAttemptAndIsNotCounted() {
        AcquireState state = Acquiring.started(Mode.WAIT)
                .attemptFailed(1, Acquiring.failure(true), Acquiring.millis(20_000), 0)
                .acquiring()
                .pauseOver(Acquiring.millis(20_020))
                .acquiring();

        Step waits = state.attemptFailed(2, Acquiring.notYet(90_000), Acquiring.millis(40_000), 0);
        pausesUntil(Acquiring.millis(130_020), waits);
        Step again = waits.acquiring()
                .pauseOver(Acquiring.millis(130_020))
                .acquiring()
                .attemptFailed(3, Acquiring.failure(true), Acquiring.millis(130_100), 0);
        assertThat(again.acquiring().phase()).isEqualTo(Phase.PAUSING);
        assertThat(again.acquiring().isAnswered()).isFalse();
    }

    /** The clock may be below zero, as {@link System#nanoTime} may be. */
    @Test
    void aSignalCausesAnAttemptAtOnceEvenIfTheClockIsBelowZero() {
        long now = -Acquiring.millis(1_000_000);
        AcquireState waits = Acquiring.start(Acquiring.plan(Mode.WAIT, false), true, now)
                .acquiring()
                .attemptFailed(1, Acquiring.notYet(90_000), now, 0)
                .acquiring();

        attempts(2, waits.signalled(Acquiring.CHANGED, Acquiring.ALL_SENT, now));
    }

    @Test
    void aRetryAfterOfYearsIsBounded() {
        Step step = Acquiring.started(Mode.WAIT).attemptFailed(1, Acquiring.notYet(Long.MAX_VALUE), 0, 0);

        pausesUntil(Acquiring.millis(86_400_020), step);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aLateGrantIsTriedAgainSoonEvenWithoutWaiting(Mode mode) {
        long late = Acquiring.millis(Acquiring.LEASE_MILLIS + 300);

        Step first = Acquiring.started(mode).answered(1, Acquiring.acquired(), late, 0);
        pausesUntil(late + Acquiring.millis(20), first);
        Step second = first.acquiring()
                .pauseOver(late + Acquiring.millis(20))
                .acquiring()
                .answered(2, Acquiring.acquired(), 2 * late, 0);
        assertThat(Acquiring.action(second)).isEqualTo(mode == Mode.WAIT ? "NONE" : "GRANTED_TOO_LATE+withdraw");
    }

    @ParameterizedTest
    @CsvSource({"TRY, FAIL+withdraw", "ONE_ATTEMPT, TIMED_OUT+withdraw"})
    void oneAttemptDoesNotWaitForTheQuarantine(Mode mode, String end) {
        assertThat(Acquiring.action(Acquiring.started(mode).attemptFailed(1, Acquiring.notYet(90_000), NOW, 0)))
                .isEqualTo(end);
    }

    private static LeaseState delivered(Step step) {
        assertThat(step.action()).isEqualTo(Action.DELIVER);
        return step.lease();
    }

    private static Certainty certainty(LeaseState lease) {
        if (lease.confirmed()) {
            return Certainty.CONFIRMED;
        }
        return lease.nextRenewalNanos() == lease.hold().grantedAtNanos() ? Certainty.DOUBTED : Certainty.PUSHED;
    }

    private static void attempts(int number, Step step) {
        assertThat(step.action()).isEqualTo(Action.ATTEMPT);
        assertThat(step.acquiring().attempt()).isEqualTo(number);
    }

    private static void pausesUntil(long nanos, Step step) {
        assertThat(step.acquiring().phase()).isEqualTo(Phase.PAUSING);
        assertThat(step.acquiring().wakeAtNanos()).isEqualTo(nanos);
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
            AcquireState state = last.acquiring();
            return state.phase() == Phase.PAUSING
                    ? state.pauseOver(Acquiring.millis(millis)).acquiring()
                    : state;
        }
    }

    @Test
    void waitEndsAtItsLimitAndNotBefore() {
        AcquireState attempting = Acquiring.start(Acquiring.plan(Mode.WAIT, true), true, Acquiring.millis(100), 0)
                .acquiring();
        assertThat(attempting.wakeAtNanos()).isEqualTo(Acquiring.millis(100));
        AcquireState waits =
                attempting.answered(1, Acquiring.queued(10_000), NOW, 0).acquiring();
        assertThat(waits.wakeAtNanos()).isEqualTo(Acquiring.millis(100));
        assertThat(Acquiring.action(waits.tick(Acquiring.millis(100) - 1))).isEqualTo("NONE");
        assertThat(Acquiring.action(waits.tick(Acquiring.millis(100)))).isEqualTo("TIMED_OUT+withdraw");
        assertThat(Acquiring.action(attempting.tick(Acquiring.millis(100)))).isEqualTo("TIMED_OUT");
    }

    @Test
    void pauseEndsAtItsTimeAndNotBefore() {
        AcquireState waits = Acquiring.started(Mode.WAIT)
                .answered(1, Acquiring.queued(10_000), NOW, 0)
                .acquiring();
        assertThat(Acquiring.action(waits.tick(waits.wakeAtNanos() - 1))).isEqualTo("NONE");
        assertThat(Acquiring.action(waits.tick(waits.wakeAtNanos()))).isEqualTo("ATTEMPT");
    }

    @Test
    void claimThatHasSentNothingEndsWithoutAWithdrawal() {
        AcquireState ready = AcquireState.ready(0);
        assertThat(Acquiring.action(ready.left())).isEqualTo("NONE");
        assertThat(Acquiring.action(ready.closed())).isEqualTo("CLOSED");
        assertThat(Acquiring.action(ready.left()
                        .acquiring()
                        .begin(Acquiring.plan(Mode.WAIT, false).terms(), Mode.WAIT, true, 0, 0)))
                .isEqualTo("NONE");
    }

    /** It holds the lock already. */
    @Test
    void adoptedClaimThatHasSentNothingIsReleasedWhenItLeaves() {
        AcquireState ready = AcquireState.ready(1);
        assertThat(Acquiring.action(ready.left())).isEqualTo("NONE+withdraw");
    }

    /** Its attempt could arrive after the release. */
    @Test
    void grantIsNotHandedOutWhileAnAttemptIsAboutToBeSent() {
        AcquireState attempting = Acquiring.started(Mode.WAIT);
        assertThat(Acquiring.action(attempting.signalled(Acquiring.granted(1, 2_000), 0, NOW)))
                .isEqualTo("NONE");
        assertThat(Acquiring.action(attempting.signalled(Acquiring.granted(1, 2_000), Acquiring.ALL_SENT, NOW)))
                .isEqualTo("DELIVER");
    }
}
