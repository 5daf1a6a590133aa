package io.holdfast.internal.timing;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.timing.AlarmClock.Alarm;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** The clock schedules one task at the scheduler, and never too late. */
class AlarmClockTaskTest {

    private final ManualTimer timer = new ManualTimer();
    private final AlarmClock clock = new AlarmClock(timer, () -> {});
    private final List<String> rung = new ArrayList<>();

    @Test
    void manyAlarmsAreOneTask() {
        for (int due = 100; due > 0; due--) {
            clock.set(alarm("a" + due), due);
        }

        assertThat(timer.pending())
                .singleElement()
                .satisfies(task -> assertThat(task.dueNanos).isEqualTo(1));
    }

    @Test
    void anAlarmThatIsSetEarlierThanTheTaskIsNotLate() {
        clock.set(alarm("late"), 100);
        clock.set(alarm("early"), 10);

        timer.advanceTo(10);

        assertThat(rung).containsExactly("early");
        assertThat(timer.pending()).hasSize(1);
    }

    @Test
    void anEarlierAlarmThatIsSetWhileTheTaskIsStartingDoesNotLeaveTwoTasks() {
        clock.set(alarm("first"), 10);
        clock.set(alarm("last"), 1_000);
        Task started = timer.pending().get(0);
        timer.now = 10;
        // The task has begun on another thread, so that it is disposed too late.
        clock.set(alarm("earlier"), 5);
        started.work.run();

        timer.advanceTo(20);

        assertThat(rung).containsExactlyInAnyOrder("earlier", "first");
        assertThat(timer.pending()).hasSize(1);
        clock.close();
        assertThat(timer.pending()).isEmpty();
    }

    @Test
    void aSchedulerThatRunsDueTasksAtOnceDoesNotStopTheClock() {
        timer.runsDueTasksAtOnce = true;
        clock.set(alarm("due"), 0);
        assertThat(rung).containsExactly("due");

        clock.set(alarm("later"), 10);
        timer.advanceTo(10);

        assertThat(rung).containsExactly("due", "later");
    }

    @Test
    void noAlarmRingsAndNoTaskIsScheduledUnderTheMonitor() {
        timer.runsDueTasksAtOnce = true;
        timer.monitor = clock;
        Alarm alarm = Alarm.of(() -> rung.add("monitor held: " + Thread.holdsLock(clock)));

        clock.set(alarm, 0);
        clock.set(alarm, 10);
        timer.advanceTo(10);

        assertThat(rung).containsExactly("monitor held: false", "monitor held: false");
        assertThat(timer.scheduledUnderMonitor).isFalse();
    }

    @Test
    void aTaskThatComesTooEarlyFindsNothingDueAndSetsTheNext() {
        Alarm first = alarm("first");
        clock.set(first, 10);
        clock.set(alarm("second"), 20);
        clock.off(first);

        timer.advanceTo(10);
        assertThat(rung).isEmpty();
        timer.advanceTo(20);

        assertThat(rung).containsExactly("second");
    }

    private Alarm alarm(String name) {
        return Alarm.of(() -> rung.add(name));
    }

    private static final class Task {

        final Runnable work;
        final long dueNanos;
        boolean over;

        Task(Runnable work, long dueNanos) {
            this.work = work;
            this.dueNanos = dueNanos;
        }
    }

    /** A scheduler that the test moves by hand. */
    private static final class ManualTimer implements Scheduler {

        long now;
        boolean runsDueTasksAtOnce;
        Object monitor = new Object();
        boolean scheduledUnderMonitor;
        private final List<Task> tasks = new ArrayList<>();

        @Override
        public long now(TimeUnit unit) {
            return unit.convert(now, TimeUnit.NANOSECONDS);
        }

        @Override
        public Disposable schedule(Runnable work, long delay, TimeUnit unit) {
            scheduledUnderMonitor |= Thread.holdsLock(monitor);
            Task task = new Task(work, now + unit.toNanos(delay));
            tasks.add(task);
            if (runsDueTasksAtOnce) {
                advanceTo(now);
            }
            return () -> task.over = true;
        }

        @Override
        public Disposable schedule(Runnable work) {
            return schedule(work, 0, TimeUnit.NANOSECONDS);
        }

        @Override
        public Worker createWorker() {
            throw new UnsupportedOperationException();
        }

        List<Task> pending() {
            return tasks.stream().filter(task -> !task.over).toList();
        }

        void advanceTo(long nanos) {
            for (List<Task> due = due(nanos); !due.isEmpty(); due = due(nanos)) {
                Task first = due.get(0);
                first.over = true;
                now = Math.max(now, first.dueNanos);
                first.work.run();
            }
            now = nanos;
        }

        private List<Task> due(long nanos) {
            return pending().stream()
                    .filter(task -> task.dueNanos <= nanos)
                    .sorted((a, b) -> Long.compare(a.dueNanos, b.dueNanos))
                    .toList();
        }
    }
}
