package io.holdfast.testkit.history;

import static io.holdfast.testkit.history.WrittenHistory.MUTEX;
import static io.holdfast.testkit.history.WrittenHistory.READ;
import static io.holdfast.testkit.history.WrittenHistory.WRITE;
import static io.holdfast.testkit.history.WrittenHistory.ms;
import static io.holdfast.testkit.history.WrittenHistory.semaphore;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockKey;
import org.junit.jupiter.api.Test;

class BeliefCheckTest {

    private final WrittenHistory written = new WrittenHistory();
    private final HistoryCheck check = new BeliefCheck();

    @Test
    void ownersOneAfterTheOtherAreFine() {
        written.held(MUTEX, 0, 1, 5, 1).held(MUTEX, 0, 5, 9, 2).held(MUTEX, 7, 9, 12, 3);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void twoOwnersAtOneMomentAreFoundAndQuoted() {
        written.held(MUTEX, 0, 1, 5, 1).held(MUTEX, 0, 4, 9, 2);
        assertThat(written.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message())
                        .contains("2 believe in mutex stock at 4000000")
                        .contains("p1#1 MUTEX 'stock' asked 0 acquired 1000000 token 1 believed until 5000000")
                        .contains("p2#1"));
    }

    @Test
    void anOwnerWithinTheTimeOfAnotherIsFoundAfterFurtherOwners() {
        written.held(MUTEX, 0, 1, 100, 1);
        for (int i = 0; i < 3; i++) {
            written.held(MUTEX, 0, 10 + 10 * i, 15 + 10 * i, 2 + i);
        }
        assertThat(written.violations(check)).hasSize(3);
    }

    @Test
    void aBeliefEndsWhenTheValidityIsOver() {
        HistoryRecorder first = written.process();
        long op = first.asked(0, MUTEX);
        first.acquired(ms(1), op, 1, ms(10));
        first.valid(ms(5), op, ms(20));
        written.held(MUTEX, 0, 20, 30, 2);
        assertThat(written.violations(check)).isEmpty();
        written.held(MUTEX, 0, 19, 20, 3);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aBeliefEndsWithTheLossThatIsSignalled() {
        HistoryRecorder first = written.process();
        long op = first.asked(0, MUTEX);
        first.acquired(ms(1), op, 1, ms(100));
        first.lost(ms(10), op, "NOT_HELD");
        written.held(MUTEX, 0, 10, 30, 2);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void anInvalidLeaseEndsTheBelief() {
        HistoryRecorder first = written.process();
        long op = first.asked(0, MUTEX);
        first.acquired(ms(1), op, 1, ms(100));
        first.invalid(ms(10), op);
        written.held(MUTEX, 0, 11, 30, 2);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aKilledProcessBelievesUntilTheEndOfItsValidity() {
        HistoryRecorder killed = written.process();
        long op = killed.asked(0, MUTEX);
        killed.acquired(ms(1), op, 1, ms(50));
        written.held(MUTEX, 0, 50, 60, 2);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void anAcquisitionOfUnknownOutcomeBelievesNothing() {
        long unused = written.process().asked(0, MUTEX);
        written.held(MUTEX, 0, 1, 5, 1);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aReleaseOfUnknownOutcomeEndsTheBelief() {
        written.held(MUTEX, 0, 1, 5, 1).held(MUTEX, 0, 6, 9, 2); // WrittenHistory never confirms a release
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void readersBelieveTogetherButNeverWithAWriter() {
        written.held(READ, 0, 1, 10, 1).held(READ, 0, 2, 12, 2).held(WRITE, 0, 12, 20, 3);
        assertThat(written.violations(check)).isEmpty();
        written.held(READ, 0, 19, 21, 4);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aWriterAmongReadersIsFound() {
        written.held(READ, 0, 1, 10, 1).held(WRITE, 0, 9, 20, 3);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aSemaphoreLetsItsPermitsInAndNoMore() {
        written.held(semaphore(2), 0, 1, 10, 1).held(semaphore(2), 0, 2, 10, 2);
        assertThat(written.violations(check)).isEmpty();
        written.held(semaphore(2), 0, 9, 10, 3);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void ownersOfManyPermitsAreCountedByTheirPermits() {
        written.held(3, semaphore(5), 0, 1, 10, 1)
                .held(2, semaphore(5), 0, 2, 10, 2)
                .held(3, semaphore(5), 0, 10, 12, 3);
        assertThat(written.violations(check)).isEmpty();
        written.held(semaphore(5), 0, 9, 10, 4);
        assertThat(written.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message()).contains("takes 3 of 5", "takes 2 of 5"));
    }

    @Test
    void theLargestNumberOfPermitsCounts() {
        written.held(semaphore(1), 0, 1, 10, 1).held(semaphore(3), 0, 2, 10, 2).held(semaphore(1), 0, 3, 10, 3);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void differentLocksAndKindsDoNotExcludeEachOther() {
        written.held(MUTEX, 0, 1, 10, 1)
                .held(WRITE, 0, 1, 10, 1)
                .held(semaphore(1), 0, 1, 10, 1)
                .held(LockKey.of(LockKind.MUTEX, "other"), 0, 1, 10, 1);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aDowngradedWriterIsFineWithReadersOnly() {
        written.held(WRITE, 0, 1, 5, 1).heldOn(READ, 5, 8, 20, 1, 1).held(READ, 0, 6, 9, 2);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aWriterBetweenTheTwoLeasesOfOneHoldIsFound() {
        written.held(WRITE, 0, 1, 5, 1).heldOn(READ, 5, 8, 20, 1, 1).held(WRITE, 0, 6, 7, 2);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aReaderBetweenTheTwoLeasesOfAHandedOnWriterIsFound() {
        written.held(WRITE, 0, 1, 5, 1).heldOn(WRITE, 5, 8, 20, 1, 1).held(READ, 0, 6, 7, 2);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aWriterThatBelievesAfterItsDowngradeIsFound() {
        written.held(WRITE, 0, 1, 9, 1).heldOn(READ, 5, 8, 20, 1, 1);
        assertThat(written.violations(check)).hasSize(1);
    }
}
