package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.support.Deadlines.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

class DeadlinesTest {

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final Deadlines deadlines = new Deadlines(time);
    private final List<Integer> passed = new ArrayList<>();

    private final class Numbered extends Deadline {

        private final int number;

        Numbered(int number) {
            this.number = number;
        }

        @Override
        protected void passed() {
            if (number < 0) {
                throw new LinkageError("on purpose");
            }
            passed.add(number);
        }
    }

    @AfterEach
    void disposeTimer() {
        time.dispose();
    }

    private long in(long millis) {
        return time.now(TimeUnit.NANOSECONDS) + TimeUnit.MILLISECONDS.toNanos(millis);
    }

    @Test
    void deadlinesPassInTheOrderOfTheirTimesAndRemovedOnesDoNot() {
        Random random = new Random(7);
        for (int run = 0; run < 200; run++) {
            passed.clear();
            List<Numbered> all = new ArrayList<>();
            List<Integer> expected = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                all.add(new Numbered(1 + random.nextInt(100)));
                deadlines.set(all.get(i), in(1 + random.nextInt(100)));
            }
            for (Numbered one : all) {
                deadlines.set(one, in(one.number)); // set again
            }
            for (Numbered one : all) {
                if (random.nextBoolean()) {
                    deadlines.off(one);
                } else {
                    expected.add(one.number);
                }
            }
            time.advanceTimeBy(Duration.ofMillis(101));
            assertThat(passed)
                    .containsExactlyElementsOf(expected.stream().sorted().toList());
        }
    }

    @Test
    void aDeadlineThatThrowsAFatalErrorDelaysNoOther() {
        for (int i = 0; i < 3; i++) {
            deadlines.set(new Numbered(-1), in(10));
            deadlines.set(new Numbered(i), in(20 + i));
        }

        time.advanceTimeBy(Duration.ofMillis(100));

        assertThat(passed).containsExactly(0, 1, 2);
    }

    @Test
    void deadlinesThatAreAllTakenOffInTimeCostOneTaskOfTheTimer() {
        long before = time.getScheduledTaskCount();
        for (int i = 0; i < 1_000; i++) {
            Numbered request = new Numbered(i);
            deadlines.set(request, in(300));
            deadlines.off(request);
            time.advanceTimeBy(Duration.ofMillis(1));
        }
        assertThat(time.getScheduledTaskCount() - before).isLessThanOrEqualTo(4);
        assertThat(passed).isEmpty();
    }

    @Test
    void aLaterDeadlineDoesNotDelayAnEarlierOne() {
        deadlines.set(new Numbered(2), in(300));
        deadlines.set(new Numbered(1), in(50));
        time.advanceTimeBy(Duration.ofMillis(50));
        assertThat(passed).containsExactly(1);
        time.advanceTimeBy(Duration.ofMillis(250));
        assertThat(passed).containsExactly(1, 2);
    }

    @Test
    void aDeadlineThatThrowsDoesNotStopTheOthers() {
        deadlines.set(
                new Deadline() {
                    @Override
                    protected void passed() {
                        throw new IllegalStateException("on purpose");
                    }
                },
                in(10));
        deadlines.set(new Numbered(1), in(10));
        deadlines.set(new Numbered(2), in(20));
        time.advanceTimeBy(Duration.ofMillis(20));
        assertThat(passed).containsExactly(1, 2);
    }

    @Test
    void aTimerThatWasDisposedLetsAllPassAtOnce() {
        Scheduler gone = Schedulers.newSingle("gone", true);
        gone.dispose();
        Deadlines withoutTimer = new Deadlines(gone);
        withoutTimer.set(new Numbered(1), gone.now(TimeUnit.NANOSECONDS) + TimeUnit.HOURS.toNanos(1));
        assertThat(passed).containsExactly(1);
    }

    /** Its task is dropped, so deadlines that wait for that task would never pass. */
    @Test
    void aTimerThatIsDisposedWhileItsTaskIsPendingLetsAllPassWithoutAnotherRequest() throws InterruptedException {
        Scheduler ended = Schedulers.newSingle("ended", true);
        Deadlines withoutTimer = new Deadlines(ended);
        CountDownLatch passes = new CountDownLatch(1);
        Deadline inAnHour = new Deadline() {
            @Override
            protected void passed() {
                passes.countDown();
            }
        };
        withoutTimer.set(inAnHour, ended.now(TimeUnit.NANOSECONDS) + TimeUnit.HOURS.toNanos(1));

        ended.dispose();

        assertThat(passes.await(10, TimeUnit.SECONDS)).isTrue();
    }
}
