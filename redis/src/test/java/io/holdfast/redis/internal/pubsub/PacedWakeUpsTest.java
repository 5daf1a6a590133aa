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

    private final List<String> told = new ArrayList<>();
    private final Set<String> gone = new HashSet<>();
    private final Deque<Runnable> limits = new ArrayDeque<>();

    private final PacedWakeUps<String> looks =
            new PacedWakeUps<>((pause, task) -> limits.add(task), (id, signal) -> !gone.contains(id) && told.add(id));

    @Test
    void tenThousandWaitersNeverAttemptAtOnceAndAllAttemptInTheirOrder() {
        List<String> all = ids(10_000);
        looks.add(all, "again");
        for (int answered = 0; answered < 10_000; answered++) {
            assertThat(told.size() - answered).isBetween(1, MOST);
            looks.answered(told.get(answered));
        }
        assertThat(told).isEqualTo(all);
    }

    @Test
    void withSlowAnswersOneRoundOfAttemptsIsSentInEachLimit() {
        looks.add(ids(10_000), "again");
        assertThat(told).hasSize(MOST);
        tick();
        assertThat(told).as("may be answered yet").hasSize(MOST);
        tick();
        assertThat(told).hasSize(2 * MOST);
    }

    @Test
    void aClaimThatStopsAttemptingMakesRoomAndAGoneClaimIsSkipped() {
        List<String> all = ids(MOST + 3);
        gone.add(all.get(MOST + 1));
        looks.add(all, "again");
        looks.remove(all.get(0));
        assertThat(told).hasSize(MOST + 1);
        looks.remove(all.get(1));
        assertThat(told).hasSize(MOST + 2).endsWith(all.get(MOST + 2));
    }

    @Test
    void aThousandGoneClaimsTakeNoRoom() {
        gone.addAll(ids(1_000));
        List<String> all = new ArrayList<>(ids(1_000));
        all.add("here");
        looks.add(all, "again");
        assertThat(told).containsExactly("here");
    }

    @Test
    void aClaimThatIsAddedTwiceBeforeItsTurnAttemptsOnce() {
        looks.add(ids(MOST), "again");
        looks.add(List.of("late"), "again");
        looks.add(List.of("late"), "again");
        IntStream.range(0, MOST).forEach(i -> looks.answered("claim " + i));
        assertThat(told).hasSize(MOST + 1);
    }

    @Test
    void nothingIsPlannedWhenAllHaveAttempted() {
        looks.add(ids(10), "again");
        ids(10).forEach(looks::answered);
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
