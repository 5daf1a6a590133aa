package io.holdfast.testkit.history;

import static io.holdfast.testkit.history.Told.MUTEX;
import static io.holdfast.testkit.history.Told.READ;
import static io.holdfast.testkit.history.Told.WRITE;
import static io.holdfast.testkit.history.Told.ms;
import static io.holdfast.testkit.history.Told.semaphore;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import org.junit.jupiter.api.Test;

class BeliefCheckTest {

    private final Told told = new Told();
    private final HistoryCheck check = new BeliefCheck();

    @Test
    void ownersOneAfterTheOtherAreFine() {
        told.held(MUTEX, 0, 1, 5, 1).held(MUTEX, 0, 5, 9, 2).held(MUTEX, 7, 9, 12, 3);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void twoOwnersAtOneMomentAreFoundAndQuoted() {
        told.held(MUTEX, 0, 1, 5, 1).held(MUTEX, 0, 4, 9, 2);
        assertThat(told.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message())
                        .contains("2 believe in mutex stock at 4000000")
                        .contains("p1#1 MUTEX 'stock' asked 0 acquired 1000000 token 1 believed until 5000000")
                        .contains("p2#1"));
    }

    @Test
    void anOwnerWithinTheTimeOfAnotherIsFoundAlthoughOthersCameBetween() {
        told.held(MUTEX, 0, 1, 100, 1);
        for (int i = 0; i < 3; i++) {
            told.held(MUTEX, 0, 10 + 10 * i, 15 + 10 * i, 2 + i);
        }
        assertThat(told.violations(check)).hasSize(3);
    }

    @Test
    void aBeliefEndsWhenTheValidityIsOver() {
        HistoryRecorder first = told.process();
        long op = first.asked(0, MUTEX);
        first.acquired(ms(1), op, 1, ms(10));
        first.valid(ms(5), op, ms(20));
        told.held(MUTEX, 0, 20, 30, 2);
        assertThat(told.violations(check)).isEmpty();
        told.held(MUTEX, 0, 19, 20, 3);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aBeliefEndsWithTheLossThatIsSignalled() {
        HistoryRecorder first = told.process();
        long op = first.asked(0, MUTEX);
        first.acquired(ms(1), op, 1, ms(100));
        first.lost(ms(10), op, "NOT_HELD");
        told.held(MUTEX, 0, 10, 30, 2);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void aLeaseThatWasSeenInvalidIsBelievedNoMore() {
        HistoryRecorder first = told.process();
        long op = first.asked(0, MUTEX);
        first.acquired(ms(1), op, 1, ms(100));
        first.invalid(ms(10), op);
        told.held(MUTEX, 0, 11, 30, 2);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void aKilledProcessBelievesForAsLongAsItWasTold() {
        HistoryRecorder killed = told.process();
        long op = killed.asked(0, MUTEX);
        killed.acquired(ms(1), op, 1, ms(50));
        told.held(MUTEX, 0, 50, 60, 2);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void anAcquisitionOfUnknownOutcomeBelievesNothing() {
        long unused = told.process().asked(0, MUTEX);
        told.held(MUTEX, 0, 1, 5, 1);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void aReleaseOfUnknownOutcomeEndsTheBelief() {
        told.held(MUTEX, 0, 1, 5, 1).held(MUTEX, 0, 6, 9, 2); // Told never confirms a release
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void readersBelieveTogetherButNeverWithAWriter() {
        told.held(READ, 0, 1, 10, 1).held(READ, 0, 2, 12, 2).held(WRITE, 0, 12, 20, 3);
        assertThat(told.violations(check)).isEmpty();
        told.held(READ, 0, 19, 21, 4);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aWriterAmongReadersIsFound() {
        told.held(READ, 0, 1, 10, 1).held(WRITE, 0, 9, 20, 3);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aSemaphoreLetsItsPermitsInAndNoMore() {
        told.held(semaphore(2), 0, 1, 10, 1).held(semaphore(2), 0, 2, 10, 2);
        assertThat(told.violations(check)).isEmpty();
        told.held(semaphore(2), 0, 9, 10, 3);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void ownersOfManyPermitsAreCountedByTheirPermits() {
        told.held(3, semaphore(5), 0, 1, 10, 1)
                .held(2, semaphore(5), 0, 2, 10, 2)
                .held(3, semaphore(5), 0, 10, 12, 3);
        assertThat(told.violations(check)).isEmpty();
        told.held(semaphore(5), 0, 9, 10, 4);
        assertThat(told.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message()).contains("takes 3 of 5", "takes 2 of 5"));
    }

    @Test
    void theMostGenerousPermitsCount() {
        told.held(semaphore(1), 0, 1, 10, 1).held(semaphore(3), 0, 2, 10, 2).held(semaphore(1), 0, 3, 10, 3);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void differentLocksAndKindsHaveNothingToDoWithEachOther() {
        told.held(MUTEX, 0, 1, 10, 1)
                .held(WRITE, 0, 1, 10, 1)
                .held(semaphore(1), 0, 1, 10, 1)
                .held(LockKey.of(LockKind.MUTEX, "other"), 0, 1, 10, 1);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void aWriterThatGoesOnAsAReaderIsFineWithReadersOnly() {
        told.held(WRITE, 0, 1, 5, 1).heldOn(READ, 5, 8, 20, 1, 1).held(READ, 0, 6, 9, 2);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void aWriterBetweenTheTwoLeasesOfOneHoldIsFound() {
        told.held(WRITE, 0, 1, 5, 1).heldOn(READ, 5, 8, 20, 1, 1).held(WRITE, 0, 6, 7, 2);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aReaderBetweenTheTwoLeasesOfAWriterThatIsHandedOnIsFound() {
        told.held(WRITE, 0, 1, 5, 1).heldOn(WRITE, 5, 8, 20, 1, 1).held(READ, 0, 6, 7, 2);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aWriterThatBelievesAfterItsDowngradeIsFound() {
        told.held(WRITE, 0, 1, 9, 1).heldOn(READ, 5, 8, 20, 1, 1);
        assertThat(told.violations(check)).hasSize(1);
    }
}
