package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryRecorder;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SuccessionsTest {

    private static final LockKey LOCK = LockKey.of(LockKind.MUTEX, "lock");

    private final HistoryRecorder recorder = HistoryRecorder.inMemory("one");

    private long holds(long from, long until) {
        long operation = recorder.asked(from - 1, LOCK);
        recorder.acquired(from, operation, from, until);
        return operation;
    }

    private Successions successions() {
        return Successions.of(History.of(recorder.events()));
    }

    @Test
    void theClosestGrantAfterAnExpiredLeaseCounts() {
        recorder.valid(150, holds(100, 1_000), 1_100);
        assertThat(holds(1_130, 2_000)).isPositive();
        assertThat(holds(2_010, 3_000)).isPositive();
        assertThat(successions()).isEqualTo(new Successions(2, Duration.ofNanos(10)));
    }

    @Test
    void aReleasedLockDoesNotCount() {
        recorder.releaseAsked(500, holds(100, 1_000));
        assertThat(holds(510, 2_000)).isPositive();
        assertThat(successions()).isEqualTo(new Successions(0, Duration.ZERO));
    }
}
