package io.holdfast.internal.timing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AlarmHeapTest {

    private static final class Alarm extends AlarmClock.Alarm {

        private long due;
        private boolean isSet;

        @Override
        public void ring() {}

        @Override
        public boolean ringsAtClose() {
            return false;
        }
    }

    private final AlarmHeap heap = new AlarmHeap();

    /** Compares the heap with a list that is searched, on a clock that is about to overflow. */
    @Test
    void dueAlarmsAreTakenInTheOrderOfTheirTimes() {
        Random random = new Random(7);
        List<Alarm> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(new Alarm());
        }
        long now = Long.MAX_VALUE - 50_000;
        for (int step = 0; step < 100_000; step++) {
            Alarm one = all.get(random.nextInt(all.size()));
            int chance = random.nextInt(10);
            if (chance < 6) {
                one.due = now + random.nextInt(100);
                one.isSet = true;
                heap.set(one, one.due);
            } else if (chance < 9) {
                one.isSet = false;
                heap.takeOff(one);
            } else {
                now += 10;
                takeAllThatAreDue(all, now);
            }
            assertThat(heap.size())
                    .isEqualTo((int) all.stream().filter(it -> it.isSet).count());
        }
        assertThat(now).as("the clock has overflowed").isNegative();
    }

    private @Nullable Alarm takeDue(long now) {
        return (Alarm) heap.takeDue(now);
    }

    private void takeAllThatAreDue(List<Alarm> all, long now) {
        Comparator<Alarm> byTime = (a, b) -> Long.signum(a.due - b.due);
        List<Long> expected = all.stream()
                .filter(it -> it.isSet && it.due - now <= 0)
                .sorted(byTime)
                .map(it -> it.due)
                .toList();
        List<Long> taken = new ArrayList<>();
        for (Alarm due = takeDue(now); due != null; due = takeDue(now)) {
            due.isSet = false;
            taken.add(due.due);
        }
        assertThat(taken).isEqualTo(expected);
        if (heap.size() > 0) {
            assertThat(heap.firstDueNanos() - now).isPositive();
        }
    }

    @Test
    void allCanBeTakenBeforeTheyAreDue() {
        for (int i = 0; i < 10; i++) {
            heap.set(new Alarm(), i);
        }
        int taken = 0;
        while (heap.takeAny() != null) {
            taken++;
        }
        assertThat(taken).isEqualTo(10);
        assertThat(heap.takeDue(100)).isNull();
    }
}
