package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.proof.judge.Judge;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.HistoryRecorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the judge of others gets of a campaign in which a replica without the last commits was promoted. */
class PromisedHistoryIT {

    private static final LockKey LOCK = LockKey.of(LockKind.MUTEX, "stock");
    private static final Duration LEASE = Duration.ofNanos(100);
    private static final Gap PROMOTION = new Gap(50, 60);

    private final List<HistoryEvent> events = new ArrayList<>();
    private final HistoryRecorder one = HistoryRecorder.to("one", events::add);
    private final HistoryRecorder other = HistoryRecorder.to("other", events::add);

    @Test
    void leaseThatWasGrantedBeforeAPromotionEndsWithIt() {
        holds(one, 0, 10, 7);
        holds(other, 70, 80, 8);
        assertThat(refused(History.of(events))).hasSize(1);
        assertThat(refused(promised())).isEmpty();
    }

    @Test
    void twoLeasesAfterAPromotionAreRefused() {
        holds(one, 70, 80, 7);
        holds(other, 90, 100, 8);
        assertThat(refused(promised())).hasSize(1);
    }

    private History promised() {
        return new Evidence(events, List.of()).withoutGaps(List.of(PROMOTION), LEASE);
    }

    private static List<String> refused(History history) {
        return Judge.refused(List.of(history));
    }

    private static void holds(HistoryRecorder by, long asked, long acquired, long token) {
        by.acquired(acquired, by.asked(asked, LOCK), token, acquired + LEASE.toNanos());
    }
}
