package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.proof.hostile.Clients.Standstill;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryRecorder;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnavailabilityTest {

    private static final LockKey LOCK = LockKey.of(LockKind.MUTEX, "lock");

    private final HistoryRecorder recorder = HistoryRecorder.inMemory("one");

    private void granted(long asked, long acquired) {
        recorder.acquired(acquired, recorder.asked(asked, LOCK), acquired, acquired + 1);
    }

    private void refused(long asked, long ended) {
        recorder.ended(ended, recorder.asked(asked, LOCK), "timeout");
    }

    private long longestNanos(Standstill... standstills) {
        return Unavailability.longest(History.of(recorder.events()).operations(), List.of(standstills))
                .length()
                .toNanos();
    }

    @Test
    void itIsTheLongestWaitWithoutAnyGrant() {
        refused(0, 100);
        granted(5, 40);
        granted(60, 90);
        assertThat(longestNanos()).isEqualTo(50);
    }

    @Test
    void itContinuesWhileAnotherClaimWaits() {
        refused(0, 50);
        refused(40, 120);
        granted(110, 130);
        assertThat(longestNanos()).isEqualTo(130);
    }

    @Test
    void timeWithoutAWaiterDoesNotCount() {
        granted(0, 10);
        granted(1_000, 1_020);
        assertThat(longestNanos()).isEqualTo(20);
    }

    @Test
    void aFrozenProcessDoesNotWait() {
        refused(0, 100);
        assertThat(longestNanos(new Standstill("one", 10, 70))).isEqualTo(30);
    }

    @Test
    void aStandstillOfTheMachineDoesNotCount() {
        refused(0, 100);
        assertThat(longestNanos(new Standstill("one", 20, 30), new Standstill(Standstill.ALL, 10, 70)))
                .isEqualTo(30);
    }

    @Test
    void aKilledProcessDoesNotWait() {
        assertThat(recorder.asked(0, LOCK)).isPositive();
        assertThat(longestNanos(new Standstill("one", 25, Long.MAX_VALUE))).isEqualTo(25);
    }
}
