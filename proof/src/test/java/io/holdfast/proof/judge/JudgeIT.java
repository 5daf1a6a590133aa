package io.holdfast.proof.judge;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.proof.sim.Histories;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.HistoryRecorder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Histories of the simulated world, judged by Lincheck. {@code -Dproof.schedules=2000} judges more. */
class JudgeIT {

    private static final LockKey LOCK = LockKey.of(LockKind.MUTEX, "stock");

    private final List<HistoryEvent> events = new ArrayList<>();
    private final HistoryRecorder one = HistoryRecorder.to("one", events::add);
    private final HistoryRecorder other = HistoryRecorder.to("other", events::add);

    @ParameterizedTest
    @ValueSource(strings = {"MEMORY", "REDIS", "ZOOKEEPER"})
    void historiesOfTheSimulatedWorldAreLinearizable(String store) {
        int schedules = Integer.getInteger("proof.schedules", 50);
        List<History> histories = Histories.of(store, Long.getLong("proof.seed", 0), schedules);
        assertThat(Judge.refused(histories)).isEmpty();
        assertThat(histories).hasSizeGreaterThan(schedules / 2);
    }

    @Test
    void aMutantIsRefused() {
        assertThat(Judge.refused(Histories.ofMutant("exporter that still believes", 0, 100)))
                .isNotEmpty();
    }

    @Test
    void twoHoldersAreRefused() {
        hold(one, 0, 10, 7, 30);
        hold(other, 5, 31, 8, 40);
        assertThat(refused()).isEmpty();
        events.clear();
        hold(one, 0, 10, 7, 30);
        hold(other, 5, 20, 8, 40);
        assertThat(refused()).hasSize(1);
    }

    @Test
    void aTokenThatFallsIsRefused() {
        hold(one, 0, 10, 8, 20);
        hold(other, 5, 30, 7, 40);
        assertThat(refused()).hasSize(1);
    }

    @Test
    void aWriteBehindTheFenceIsRefused() {
        long former = hold(one, 0, 10, 7, 20);
        long later = hold(other, 5, 30, 8, 60);
        one.written(35, former, 7, 1);
        other.written(40, later, 8, 2);
        assertThat(refused()).isEmpty();
        one.written(50, former, 7, 3);
        assertThat(refused()).hasSize(1);
    }

    @Test
    void aHistoryIsWrittenForOtherCheckers() {
        hold(one, 0, 10, 7, 30);
        assertThat(Edn.of(Calls.ofMutexes(History.of(events)).get(0)).lines())
                .startsWith(
                        "{:process 0, :type :invoke, :f :acquire, :value 7, :time 0}",
                        "{:process 0, :type :ok, :f :acquire, :value 7, :time 10}",
                        "{:process 0, :type :invoke, :f :release, :value 7, :time 30}");
    }

    private List<String> refused() {
        return Judge.refused(List.of(History.of(events)));
    }

    private static long hold(HistoryRecorder by, long asked, long acquired, long token, long released) {
        long operation = by.asked(asked, LOCK);
        by.acquired(acquired, operation, token, 1_000);
        by.releaseAsked(released, operation);
        return operation;
    }
}
