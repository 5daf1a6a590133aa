package io.holdfast.testkit.history;

import static io.holdfast.testkit.history.Told.MUTEX;
import static io.holdfast.testkit.history.Told.ms;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RecoveryCheckTest {

    private final Told told = new Told();
    private final HistoryRecorder process = told.process();
    private final HistoryCheck check = new RecoveryCheck(Duration.ofMillis(10));

    @Test
    void aFreshAcquisitionInTimeIsFine() {
        process.faultsEnded(ms(100));
        told.held(MUTEX, 101, 111, 120, 1);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void oneThatTakesTooLongIsFound() {
        process.faultsEnded(ms(100));
        told.held(MUTEX, 101, 112, 120, 1);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void oneThatIsNeverServedIsFoundWhenTheHistoryIsLongEnough() {
        process.faultsEnded(ms(100));
        long op = process.asked(ms(101), MUTEX);
        assertThat(told.violations(check)).isEmpty();
        told.held(MUTEX, 0, 150, 151, 1);
        assertThat(told.violations(check)).hasSize(1);
        assertThat(op).isOne();
    }

    @Test
    void oneThatFailsIsFoundAndOneThatIsGivenUpIsNot() {
        process.faultsEnded(ms(100));
        process.ended(ms(103), process.asked(ms(101), MUTEX), "cancelled");
        assertThat(told.violations(check)).isEmpty();
        process.ended(ms(103), process.asked(ms(101), MUTEX), RecoveryCheck.FAILED + ": no connection");
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void thoseOfTheTimeOfTheFaultsMayTakeLong() {
        process.faultsEnded(ms(100));
        told.held(MUTEX, 99, 150, 151, 1);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void whateverIsLeftInTheStoreIsFound() {
        process.left(ms(200), "holdfast:{stock}:mutex");
        assertThat(told.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message()).contains("holdfast:{stock}:mutex"));
    }
}
