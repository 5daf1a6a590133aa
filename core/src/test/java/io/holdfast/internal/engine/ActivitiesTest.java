package io.holdfast.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.engine.Activities.Activity;
import io.holdfast.internal.engine.Activities.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ActivitiesTest {

    private static final class One extends Activity {

        private final Stage stage;

        One(Stage stage) {
            this.stage = stage;
        }

        @Override
        public Stage stage() {
            return stage;
        }

        @Override
        public void close() {}
    }

    private final Activities activities = new Activities();
    private final One first = new One(Stage.ACQUIRING);
    private final One second = new One(Stage.HOLDING);
    private final One third = new One(Stage.ACQUIRING);

    private void addAll() {
        activities.add(first);
        activities.add(second);
        activities.add(third);
    }

    private List<Activity> all() {
        return activities.ask(activity -> activity, 10).oldest();
    }

    @Test
    void aNewListIsEmpty() {
        assertThat(activities.isEmpty()).isTrue();
        assertThat(all()).isEmpty();
    }

    @Test
    void activitiesOfOneStageAreListedOldestFirst() {
        addAll();

        assertThat(activities.all(Stage.ACQUIRING)).containsExactly(first, third);
        assertThat(activities.all(Stage.HOLDING)).containsExactly(second);
        assertThat(activities.isEmpty()).isFalse();
    }

    @Test
    void releasesThatAreTheOnlyOnesAreCountedWithoutLookingAtEachAgain() {
        AtomicInteger looks = new AtomicInteger();
        List<Activity> releases = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            releases.add(new Activity() {
                @Override
                public Stage stage() {
                    looks.incrementAndGet();
                    return Stage.RELEASING;
                }
            });
        }
        activities.add(first);
        releases.forEach(activities::add);
        assertThat(activities.hasOnlyReleases()).isFalse();
        assertThat(activities.remove(first)).isTrue();
        for (Activity release : releases) {
            assertThat(activities.hasOnlyReleases()).isTrue();
            assertThat(activities.remove(release)).isTrue();
        }

        assertThat(looks).hasValueLessThanOrEqualTo(1_000);
        activities.add(second);
        assertThat(activities.hasOnlyReleases()).isFalse();
    }

    @Test
    void theFirstTheLastAndAMiddleActivityCanLeave() {
        addAll();
        assertThat(activities.remove(second)).isTrue();
        assertThat(all()).containsExactly(first, third);
        assertThat(activities.remove(first)).isTrue();
        assertThat(all()).containsExactly(third);
        assertThat(activities.remove(third)).isTrue();
        assertThat(activities.isEmpty()).isTrue();
    }

    @Test
    void anActivityOutsideTheListCannotLeave() {
        assertThat(activities.remove(first)).isFalse();
        addAll();
        assertThat(activities.remove(second)).isTrue();
        assertThat(activities.remove(second)).isFalse();
        assertThat(all()).containsExactly(first, third);
    }

    @Test
    void aListedResultDoesNotChangeLater() {
        addAll();
        var before = all();

        boolean unused = activities.remove(second);

        assertThat(before).containsExactly(first, second, third);
    }
}
