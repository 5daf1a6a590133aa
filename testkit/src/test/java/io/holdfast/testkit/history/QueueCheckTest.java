package io.holdfast.testkit.history;

import static io.holdfast.testkit.history.WrittenHistory.MUTEX;
import static io.holdfast.testkit.history.WrittenHistory.READ;
import static io.holdfast.testkit.history.WrittenHistory.WRITE;
import static io.holdfast.testkit.history.WrittenHistory.ms;
import static io.holdfast.testkit.history.WrittenHistory.semaphore;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class QueueCheckTest {

    private final WrittenHistory written = new WrittenHistory();
    private final HistoryCheck check = new QueueCheck();

    @Test
    void waitersServedInTheOrderOfArrivalAreFine() {
        written.queued(MUTEX, 0, 1, 10).queued(MUTEX, 2, 3, 20).queued(MUTEX, 4, 5, 30);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aLaterWaiterThatIsServedEarlierIsFound() {
        written.queued(MUTEX, 0, 1, 20).queued(MUTEX, 2, 3, 10);
        assertThat(written.violations(check))
                .singleElement()
                .satisfies(violation ->
                        assertThat(violation.message()).contains("p1#1").contains("p2#1"));
    }

    @Test
    void anAcquisitionRequestedBeforeTheOtherWasQueuedMayBeServedFirst() {
        written.queued(MUTEX, 0, 5, 20).queued(MUTEX, 4, 6, 10);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aPassedWaiterThatIsNeverServedIsFoundToo() {
        HistoryRecorder process = written.process();
        process.queued(ms(1), process.asked(0, MUTEX));
        written.held(MUTEX, 2, 3, 4, 1);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aWaiterThatLeavesTheQueueIsNotOvertaken() {
        HistoryRecorder process = written.process();
        long op = process.asked(0, MUTEX);
        process.queued(ms(1), op);
        process.ended(ms(3), op, "cancelled");
        written.queued(MUTEX, 2, 2, 10);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aFaultThatMayCostThePlaceEndsThePromise() {
        HistoryRecorder process = written.process();
        long op = process.asked(0, MUTEX);
        process.queued(ms(1), op);
        process.placeUnsure(ms(3), op, "connection cut");
        written.queued(MUTEX, 2, 2, 10);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aReaderThatOvertakesAWaitingWriterIsFound() {
        written.queued(WRITE, 0, 1, 20).queued(READ, 2, 3, 10);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aClaimOfFewPermitsThatOvertakesAClaimOfManyIsFound() {
        written.queued(3, semaphore(3), 0, 1, 20).queued(1, semaphore(3), 2, 3, 10);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aClaimThatOvertakesOnlyClaimsThatItFitsWithIsIgnored() {
        written.queued(1, semaphore(3), 0, 1, 30)
                .queued(2, semaphore(3), 0, 1, 20)
                .queued(1, semaphore(3), 2, 3, 10);
        assertThat(written.violations(check)).isEmpty();
        written.queued(2, semaphore(3), 4, 5, 12);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void readersDoNotOvertakeEachOther() {
        written.queued(READ, 0, 1, 20).queued(READ, 2, 3, 19);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void anOperationThatContinuesALeaseOvertakesNoWaiter() {
        written.queued(WRITE, 0, 1, 20).heldOn(READ, 5, 6, 15, 3, 3);
        assertThat(written.violations(check)).isEmpty();
    }
}
