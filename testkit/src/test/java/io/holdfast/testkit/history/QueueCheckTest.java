package io.holdfast.testkit.history;

import static io.holdfast.testkit.history.Told.MUTEX;
import static io.holdfast.testkit.history.Told.READ;
import static io.holdfast.testkit.history.Told.WRITE;
import static io.holdfast.testkit.history.Told.ms;
import static io.holdfast.testkit.history.Told.semaphore;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class QueueCheckTest {

    private final Told told = new Told();
    private final HistoryCheck check = new QueueCheck();

    @Test
    void thoseServedInTheOrderOfTheirComingAreFine() {
        told.queued(MUTEX, 0, 1, 10).queued(MUTEX, 2, 3, 20).queued(MUTEX, 4, 5, 30);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void whoCameLaterAndIsServedEarlierIsFound() {
        told.queued(MUTEX, 0, 1, 20).queued(MUTEX, 2, 3, 10);
        assertThat(told.violations(check))
                .singleElement()
                .satisfies(violation ->
                        assertThat(violation.message()).contains("p1#1").contains("p2#1"));
    }

    @Test
    void whoeverAskedBeforeTheOtherWasKnownToWaitMayBeServedFirst() {
        told.queued(MUTEX, 0, 5, 20).queued(MUTEX, 4, 6, 10);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void aPassedWaiterThatIsNeverServedIsFoundToo() {
        HistoryRecorder process = told.process();
        process.queued(ms(1), process.asked(0, MUTEX));
        told.held(MUTEX, 2, 3, 4, 1);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void whoLeavesTheQueueIsPassedByNobody() {
        HistoryRecorder process = told.process();
        long op = process.asked(0, MUTEX);
        process.queued(ms(1), op);
        process.ended(ms(3), op, "cancelled");
        told.queued(MUTEX, 2, 2, 10);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void aFaultThatMayCostThePlaceEndsThePromise() {
        HistoryRecorder process = told.process();
        long op = process.asked(0, MUTEX);
        process.queued(ms(1), op);
        process.placeUnsure(ms(3), op, "connection cut");
        told.queued(MUTEX, 2, 2, 10);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void aReaderThatPassesAWaitingWriterIsFound() {
        told.queued(WRITE, 0, 1, 20).queued(READ, 2, 3, 10);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aClaimOfFewPermitsThatPassesOneOfManyIsFound() {
        told.queued(3, semaphore(3), 0, 1, 20).queued(1, semaphore(3), 2, 3, 10);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aClaimThatPassesOnlyOthersThatItFitsWithIsNotSeen() {
        told.queued(1, semaphore(3), 0, 1, 30).queued(2, semaphore(3), 0, 1, 20).queued(1, semaphore(3), 2, 3, 10);
        assertThat(told.violations(check)).isEmpty();
        told.queued(2, semaphore(3), 4, 5, 12);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void readersDoNotPassEachOther() {
        told.queued(READ, 0, 1, 20).queued(READ, 2, 3, 19);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void oneThatGoesOnWithALeasePassesNoWaiter() {
        told.queued(WRITE, 0, 1, 20).heldOn(READ, 5, 6, 15, 3, 3);
        assertThat(told.violations(check)).isEmpty();
    }
}
