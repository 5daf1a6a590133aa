package io.holdfast.redis.internal.pubsub;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeadWakeUpsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    /** A task, and how long it still waits. */
    private static final class Planned {

        final Runnable task;
        Duration left;

        Planned(Duration left, Runnable task) {
            this.left = left;
            this.task = task;
        }
    }

    private final List<Planned> tasks = new ArrayList<>();
    private final List<String> woken = new ArrayList<>();

    /** The clock of a JVM may overflow. */
    private long now = Long.MAX_VALUE - 10;

    private final HeadWakeUps wakeUps =
            new HeadWakeUps((pause, task) -> tasks.add(new Planned(pause, task)), () -> now, woken::add);

    @Test
    void aClaimThatIsStillThereAttemptsOnceAtItsTime() {
        wakeUps.add("a", SECOND);

        pass(SECOND.minusNanos(1));
        assertThat(woken).isEmpty();
        pass(Duration.ofNanos(1));
        assertThat(woken).containsExactly("a");
        pass(SECOND.multipliedBy(3));
        assertThat(woken).containsExactly("a");
    }

    @Test
    void aClaimThatIsAddedTwiceAttemptsAtTheEarlierTime() {
        wakeUps.add("a", SECOND.multipliedBy(1_000));
        wakeUps.add("a", SECOND);
        pass(Duration.ofMillis(900));
        wakeUps.add("a", SECOND);

        pass(Duration.ofMillis(100));

        assertThat(woken).containsExactly("a");
    }

    /** The server gives a new time with each grant to another claim. The attempt at an earlier time may come too early. */
    @Test
    void aTimeThatIsGivenBeforeAnEarlierOneIsOverIsNotLost() {
        wakeUps.add("a", SECOND);
        pass(Duration.ofMillis(900));
        wakeUps.add("a", SECOND);

        pass(Duration.ofMillis(100));
        assertThat(woken).containsExactly("a");
        pass(Duration.ofMillis(899));
        assertThat(woken).containsExactly("a");
        pass(Duration.ofMillis(1));
        assertThat(woken).containsExactly("a", "a");
        pass(SECOND.multipliedBy(3));
        assertThat(woken).hasSize(2);
        assertThat(tasks).isEmpty();
    }

    @Test
    void aClaimThatWasServedDoesNotAttempt() {
        wakeUps.add("a", SECOND);
        wakeUps.remove("a");

        pass(SECOND.multipliedBy(2));

        assertThat(woken).isEmpty();
    }

    @Test
    void eachClaimAttemptsAtItsOwnTimeInAnyOrderOfAdding() {
        wakeUps.add("late", SECOND.multipliedBy(3));
        wakeUps.add("early", SECOND);
        pass(Duration.ofMillis(500));
        wakeUps.add("between", SECOND);

        pass(Duration.ofMillis(500));
        assertThat(woken).containsExactly("early");
        pass(Duration.ofMillis(500));
        assertThat(woken).containsExactly("early", "between");
        pass(Duration.ofMillis(1_500));
        assertThat(woken).containsExactly("early", "between", "late");
    }

    @Test
    void thousandsOfClaimsThatAreServedInTimeNeedOneTaskAtATime() {
        for (int i = 0; i < 10_000; i++) {
            wakeUps.add("claim " + i, SECOND);
            pass(Duration.ofMillis(1));
            wakeUps.remove("claim " + i);

            assertThat(tasks).hasSizeLessThanOrEqualTo(1);
        }
        assertThat(woken).isEmpty();
    }

    @Test
    void nothingIsPlannedWhenNoClaimIsLeft() {
        wakeUps.add("a", SECOND);
        wakeUps.remove("a");

        pass(SECOND);

        assertThat(tasks).isEmpty();
    }

    @Test
    void attemptsAtEarlierAndEarlierTimesNeedFewTasks() {
        Duration minute = Duration.ofMinutes(1);
        for (int i = 0; i < 10_000; i++) {
            wakeUps.add("a", minute.minusMillis(i));
        }
        assertThat(tasks).hasSizeLessThanOrEqualTo(HeadWakeUps.MOST_TASKS);

        pass(minute);

        assertThat(woken).as("at the earliest time and at the latest").containsExactly("a", "a");
        assertThat(tasks).isEmpty();
        wakeUps.add("b", SECOND);
        pass(SECOND);
        assertThat(woken).as("all is as before").containsExactly("a", "a", "b");
    }

    private void pass(Duration time) {
        Duration left = time;
        while (true) {
            Duration rest = left;
            Planned next = tasks.stream()
                    .filter(task -> task.left.compareTo(rest) <= 0)
                    .min((one, other) -> one.left.compareTo(other.left))
                    .orElse(null);
            Duration step = next == null ? rest : next.left;
            now += step.toNanos();
            tasks.forEach(task -> task.left = task.left.minus(step));
            left = rest.minus(step);
            if (next == null) {
                return;
            }
            tasks.remove(next);
            next.task.run();
        }
    }
}
