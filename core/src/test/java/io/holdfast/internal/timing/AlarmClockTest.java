package io.holdfast.internal.timing;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.timing.AlarmClock.Alarm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

class AlarmClockTest {

    private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
    private final AlarmClock clock = new AlarmClock(timer, () -> {});
    private final List<String> rung = new ArrayList<>();

    @AfterEach
    void dispose() {
        timer.dispose();
    }

    @Test
    void alarmsRingAtTheirTimeAndInItsOrder() {
        clock.set(alarm("c"), 30);
        clock.set(alarm("a"), 10);
        clock.set(alarm("b"), 20);

        advanceTo(9);
        assertThat(rung).isEmpty();
        advanceTo(10);
        assertThat(rung).containsExactly("a@10");
        advanceTo(100);
        assertThat(rung).containsExactly("a@10", "b@20", "c@30");
        assertThat(clock.size()).isZero();
    }

    @Test
    void anAlarmSetAgainRingsOnceAtItsLastTime() {
        Alarm later = alarm("later");
        Alarm sooner = alarm("sooner");
        clock.set(later, 10);
        clock.set(later, 40);
        clock.set(sooner, 50);
        clock.set(sooner, 20);

        advanceTo(100);

        assertThat(rung).containsExactly("sooner@20", "later@40");
    }

    @Test
    void anAlarmThatIsOffDoesNotRing() {
        Alarm first = alarm("first");
        clock.set(first, 10);
        clock.set(alarm("second"), 20);

        clock.off(first);
        clock.off(first);
        advanceTo(100);

        assertThat(rung).containsExactly("second@20");
    }

    @Test
    void anAlarmCanBeSetAgainFromItsOwnRing() {
        Alarm[] self = new Alarm[1];
        self[0] = Alarm.of(() -> {
            rung.add("@" + clock.now());
            if (rung.size() < 3) {
                clock.set(self[0], clock.now() + 10);
            }
        });
        clock.set(self[0], 10);

        advanceTo(100);

        assertThat(rung).containsExactly("@10", "@20", "@30");
    }

    @Test
    void anAlarmTakenOffByAnEarlierAlarmOfTheSameMomentDoesNotRing() {
        Alarm victim = alarm("victim");
        clock.set(Alarm.of(() -> clock.off(victim)), 10);
        clock.set(victim, 11);
        timer.advanceTimeBy(Duration.ofNanos(20));

        assertThat(rung).isEmpty();
    }

    @Test
    void anAlarmForThePastRingsAndTheClockGoesOn() {
        advanceTo(50);
        clock.set(alarm("past"), 20);
        clock.set(alarm("now"), 50);
        advanceTo(50);
        assertThat(rung).containsExactlyInAnyOrder("past@50", "now@50");

        clock.set(alarm("later"), 60);
        advanceTo(60);

        assertThat(rung).contains("later@60");
    }

    @Test
    void anAlarmThatThrowsDoesNotStopTheOthers() {
        clock.set(
                Alarm.of(() -> {
                    throw new IllegalStateException("on purpose");
                }),
                10);
        clock.set(
                Alarm.of(() -> {
                    throw new AssertionError("on purpose");
                }),
                11);
        clock.set(alarm("same task"), 11);
        clock.set(alarm("later"), 20);

        advanceTo(30);

        assertThat(rung).containsExactly("same task@11", "later@20");
    }

    @Test
    void anAlarmThatThrowsAFatalErrorDelaysNeitherTheOthersNorTheRenewals() {
        AlarmClock batching = new AlarmClock(timer, () -> rung.add("renewals@" + timer.now(TimeUnit.NANOSECONDS)));
        batching.set(fatal(), 10);
        batching.set(alarm("same moment"), 10);

        advanceTo(10);

        assertThat(rung).containsExactly("same moment@10", "renewals@10");
    }

    @Test
    void anAlarmThatThrowsAFatalErrorAtTheCloseDoesNotKeepTheOthersWaiting() {
        for (int i = 0; i < 3; i++) {
            clock.set(Alarm.atTheLatestAtClose(AlarmClockTest::throwFatally), 10);
            clock.set(Alarm.atTheLatestAtClose(() -> rung.add("awaited")), 10);
        }

        clock.close();

        assertThat(rung).hasSize(3);
    }

    @Test
    void anAlarmThatIsSetBehindAnOldTaskIsWatchedToo() throws InterruptedException {
        VisitedTimer mortal = new VisitedTimer();
        CountDownLatch noticed = new CountDownLatch(1);
        AlarmClock watched = new AlarmClock(mortal, () -> {}, noticed::countDown);
        Alarm answered = alarm("answered");
        watched.set(answered, TimeUnit.MINUTES.toNanos(1));
        watched.off(answered);
        mortal.awaitAnIdleVisit();

        watched.set(alarm("deadline"), TimeUnit.MINUTES.toNanos(2));
        mortal.dispose();

        assertThat(noticed.await(10, TimeUnit.SECONDS)).isTrue();
        watched.close();
    }

    @Test
    void afterRingsThatThrowsDoesNotStopTheClock() {
        AlarmClock fragile = new AlarmClock(timer, () -> {
            throw new IllegalStateException("on purpose");
        });
        fragile.set(alarm("first"), 10);
        fragile.set(alarm("second"), 20);

        advanceTo(30);

        assertThat(rung).containsExactly("first@10", "second@20");
    }

    @Test
    void afterRingsRunsOncePerMoment() {
        AlarmClock batching = new AlarmClock(timer, () -> rung.add("batch@" + timer.now(TimeUnit.NANOSECONDS)));
        batching.set(alarm("a"), 10);
        batching.set(alarm("b"), 10);
        batching.set(alarm("c"), 20);

        advanceTo(30);

        assertThat(rung).containsSubsequence("batch@10", "c@20", "batch@20");
        assertThat(rung.subList(0, 2)).containsExactlyInAnyOrder("a@10", "b@10");
        assertThat(rung).hasSize(5);
    }

    @Test
    void noAlarmRingsAfterTheClose() {
        clock.set(alarm("open"), 10);
        clock.close();
        clock.set(alarm("late"), 20);

        advanceTo(100);

        assertThat(rung).isEmpty();
        assertThat(clock.size()).isZero();
    }

    @Test
    void aHundredThousandAlarmsRingInOrder() {
        int many = 100_000;
        Random random = new Random(1);
        List<Long> times = new ArrayList<>();
        List<Alarm> off = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            Alarm alarm = Alarm.of(() -> times.add(clock.now()));
            clock.set(alarm, 1 + random.nextInt(1_000));
            if (i % 2 == 0) {
                off.add(alarm);
            }
        }
        off.forEach(clock::off);

        advanceTo(1_000);

        assertThat(times).hasSize(many / 2).isSorted();
        assertThat(clock.size()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void randomOperationsRingTheSameAlarmsAsAModel(long seed) {
        Random random = new Random(seed);
        Map<String, Alarm> alarms = new HashMap<>();
        Map<String, Long> model = new HashMap<>();
        for (int step = 0; step < 3_000; step++) {
            String name = "n" + random.nextInt(40);
            Alarm alarm = alarms.computeIfAbsent(name, this::alarm);
            switch (random.nextInt(4)) {
                case 0 -> {
                    clock.off(alarm);
                    model.remove(name);
                }
                case 1 -> {
                    long to = clock.now() + random.nextInt(20);
                    List<String> expected = model.entrySet().stream()
                            .filter(entry -> entry.getValue() <= to)
                            .map(entry -> entry.getKey() + "@" + entry.getValue())
                            .toList();
                    model.values().removeIf(due -> due <= to);
                    rung.clear();
                    advanceTo(to);
                    assertThat(rung)
                            .as("seed %d step %d", seed, step)
                            .containsExactlyInAnyOrderElementsOf(expected)
                            .isSortedAccordingTo((a, b) -> Long.compare(timeOf(a), timeOf(b)));
                }
                default -> {
                    long due = clock.now() + 1 + random.nextInt(100);
                    clock.set(alarm, due);
                    model.put(name, due);
                }
            }
            assertThat(clock.size()).as("seed %d step %d", seed, step).isEqualTo(model.size());
        }
    }

    private static long timeOf(String rung) {
        return Long.parseLong(rung.substring(rung.indexOf('@') + 1));
    }

    private static Alarm fatal() {
        return Alarm.of(AlarmClockTest::throwFatally);
    }

    private static void throwFatally() {
        throw new LinkageError("on purpose");
    }

    private Alarm alarm(String name) {
        return Alarm.of(() -> rung.add(name + "@" + clock.now()));
    }

    private void advanceTo(long nanos) {
        timer.advanceTimeBy(Duration.ofNanos(nanos - clock.now()));
    }

    /** A timer that runs no task, and records that the watch of the timers has looked at it. */
    private static final class VisitedTimer implements Scheduler {

        private final CompletableFuture<Thread> visitor = new CompletableFuture<>();
        private volatile boolean disposed;

        @Override
        public boolean isDisposed() {
            if (Thread.currentThread().getName().equals("holdfast-timer-watch")) {
                visitor.complete(Thread.currentThread());
            }
            return disposed;
        }

        void awaitAnIdleVisit() {
            Thread watch = visitor.orTimeout(10, TimeUnit.SECONDS).join();
            while (watch.getState() == Thread.State.RUNNABLE) {
                Thread.onSpinWait();
            }
        }

        @Override
        public void dispose() {
            disposed = true;
        }

        @Override
        public long now(TimeUnit unit) {
            return 0;
        }

        @Override
        public Disposable schedule(Runnable task) {
            return Disposables.disposed();
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            return Disposables.disposed();
        }

        @Override
        public Worker createWorker() {
            throw new UnsupportedOperationException("this test uses no worker");
        }
    }
}
