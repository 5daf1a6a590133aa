package io.holdfast.testkit.history;

import static io.holdfast.testkit.history.WrittenHistory.MUTEX;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RegisterCheckTest {

    private final WrittenHistory written = new WrittenHistory();
    private final HistoryRecorder one = written.process();
    private final HistoryRecorder other = written.process();
    private final long first = one.asked(0, MUTEX);
    private final long second = other.asked(0, MUTEX);
    private final HistoryCheck check = new RegisterCheck();

    @Test
    void writesInTheOrderOfTheTokensAreFine() {
        one.written(1, first, 5, 1);
        one.written(2, first, 5, 2);
        other.written(9, second, 8, 3);
        one.refused(10, first, 5);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aWriteOfAFormerOwnerIsFoundByTheOrderOfTheRegister() {
        other.written(5, second, 8, 1);
        one.written(3, first, 5, 2);
        assertThat(written.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message())
                        .contains("mutex stock")
                        .contains("p2 1 WRITTEN")
                        .contains("p1 1 WRITTEN"));
    }

    @Test
    void twoOwnersWithOneTokenAreFound() {
        one.written(1, first, 5, 1);
        other.written(2, second, 5, 2);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aWriteOfUnknownOutcomeIsNeitherTakenNorRefused() {
        other.written(5, second, 8, 1);
        one.writeUnknown(6, first, 5);
        assertThat(written.violations(check)).isEmpty();
    }
}
