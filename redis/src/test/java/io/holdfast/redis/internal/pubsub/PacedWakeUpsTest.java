package io.holdfast.redis.internal.pubsub;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PacedWakeUpsTest {

    private static final int MOST = PacedWakeUps.MOST_AT_ONCE;

    private final List<String> woken = new ArrayList<>();
    private final Set<String> gone = new HashSet<>();
    private final Deque<Runnable> limits = new ArrayDeque<>();

    private final PacedWakeUps<String> wakeUps =
            new PacedWakeUps<>((pause, task) -> limits.add(task), (id, signal) -> !gone.contains(id) && woken.add(id));

    @Test
    void tenThousandWaitersNeverAttemptAtOnceAndAllAttemptInTheirOrder() {
        List<String> all = ids(10_000);
        wakeUps.add(all, "again");
        for (int answered = 0; answered < 10_000; answered++) {
            assertThat(woken.size() - answered).isBetween(1, MOST);
            wakeUps.answered(woken.get(answered));
        }
        assertThat(woken).isEqualTo(all);
    }

    @Test
    void withSlowAnswersOneRoundOfAttemptsIsSentInEachLimit() {
        wakeUps.add(ids(10_000), "again");
        assertThat(woken).hasSize(MOST);
        tick();
        assertThat(woken).as("may be answered yet").hasSize(MOST);
        tick();
        assertThat(woken).hasSize(2 * MOST);
    }

    @Test
    void aClaimThatStopsAttemptingMakesRoomAndAGoneClaimIsSkipped() {
        List<String> all = ids(MOST + 3);
        gone.add(all.get(MOST + 1));
        wakeUps.add(all, "again");
        wakeUps.remove(all.get(0));
        assertThat(woken).hasSize(MOST + 1);
        wakeUps.remove(all.get(1));
        assertThat(woken).hasSize(MOST + 2).endsWith(all.get(MOST + 2));
    }

    @Test
    void aThousandGoneClaimsTakeNoRoom() {
        gone.addAll(ids(1_000));
        List<String> all = new ArrayList<>(ids(1_000));
        all.add("here");
        wakeUps.add(all, "again");
        assertThat(woken).containsExactly("here");
    }

    @Test
    void aClaimThatIsAddedTwiceBeforeItsTurnAttemptsOnce() {
        wakeUps.add(ids(MOST), "again");
        wakeUps.add(List.of("late"), "again");
        wakeUps.add(List.of("late"), "again");
        IntStream.range(0, MOST).forEach(i -> wakeUps.answered("claim " + i));
        assertThat(woken).hasSize(MOST + 1);
    }

    @Test
    void nothingIsPlannedWhenAllHaveAttempted() {
        wakeUps.add(ids(10), "again");
        ids(10).forEach(wakeUps::answered);
        tick();
        assertThat(limits).isEmpty();
    }

    private void tick() {
        limits.remove().run();
    }

    private static List<String> ids(int count) {
        return IntStream.range(0, count).mapToObj(i -> "claim " + i).toList();
    }
}
