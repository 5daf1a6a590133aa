package io.holdfast.testkit.history;

import static io.holdfast.testkit.history.WrittenHistory.MUTEX;
import static io.holdfast.testkit.history.WrittenHistory.ms;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RecoveryCheckTest {

    private final WrittenHistory written = new WrittenHistory();
    private final HistoryRecorder process = written.process();
    private final HistoryCheck check = new RecoveryCheck(Duration.ofMillis(10));

    @Test
    void aFreshAcquisitionInTimeIsFine() {
        process.faultsEnded(ms(100));
        written.held(MUTEX, 101, 111, 120, 1);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void anAcquisitionThatTakesTooLongIsFound() {
        process.faultsEnded(ms(100));
        written.held(MUTEX, 101, 112, 120, 1);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void anAcquisitionThatIsNeverServedIsFoundInALongHistory() {
        process.faultsEnded(ms(100));
        long op = process.asked(ms(101), MUTEX);
        assertThat(written.violations(check)).isEmpty();
        written.held(MUTEX, 0, 150, 151, 1);
        assertThat(written.violations(check)).hasSize(1);
        assertThat(op).isOne();
    }

    @Test
    void aFailedAcquisitionIsFoundAndACancelledOneIsNot() {
        process.faultsEnded(ms(100));
        process.ended(ms(103), process.asked(ms(101), MUTEX), "cancelled");
        assertThat(written.violations(check)).isEmpty();
        process.ended(ms(103), process.asked(ms(101), MUTEX), RecoveryCheck.FAILED + ": no connection");
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void acquisitionsDuringTheFaultsMayTakeLong() {
        process.faultsEnded(ms(100));
        written.held(MUTEX, 99, 150, 151, 1);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void dataLeftAtTheBackEndIsFound() {
        process.left(ms(200), "holdfast:{stock}:mutex");
        assertThat(written.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message()).contains("holdfast:{stock}:mutex"));
    }
}
