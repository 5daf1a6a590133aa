package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/** How many threads there are, and when tasks wait. */
class WorkThreadsTest {

    private static final Duration SECOND = Duration.ofMillis(WorkThreads.STUCK_MILLIS);

    /** With so many threads, starting a new one sometimes takes longer than until the next second. */
    private static final int MANY = 100;

    private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
    private final WorkThreads threads = new WorkThreads(2, timer);
    private final Scheduler scheduler = Schedulers.fromExecutorService(threads.executor());
    private final CountDownLatch end = new CountDownLatch(1);

    @AfterEach
    void dispose() {
        end.countDown();
        scheduler.dispose();
        timer.dispose();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs tasks that block. The latch shows when all of them run. */
    private CountDownLatch block(int tasks) {
        CountDownLatch running = new CountDownLatch(tasks);
        IntStream.range(0, tasks)
                .forEach(task -> scheduler.schedule(() -> {
                    running.countDown();
                    await(end);
                }));
        return running;
    }

    private void run() {
        CountDownLatch ran = new CountDownLatch(1);
        scheduler.schedule(ran::countDown);
        await(ran);
    }

    @Test
    void anIdleThreadIsUsedBeforeANewOneIsStarted() throws InterruptedException {
        run();
        while (threads.idle() == 0) {
            Thread.onSpinWait(); // until the one thread waits for its next task
        }

        run();

        assertThat(threads.size()).isOne();
    }

    /** The first caller that needs a thread starts it. Then it runs the work of other callers. */
    @Test
    void aThreadInheritsNoVariablesOfItsCreator() throws InterruptedException {
        InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
        ClassLoader ofTheApplication = Thread.currentThread().getContextClassLoader();
        CompletableFuture<String> seen = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            user.set("one");
            scheduler.schedule(() -> seen.complete("%s, %s"
                    .formatted(user.get(), Thread.currentThread().getContextClassLoader() == ofTheApplication)));
        });
        caller.setContextClassLoader(new URLClassLoader(new URL[0]));

        caller.start();

        assertThat(seen).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("null, true");
        caller.join();
    }

    @Test
    void aTaskWithoutAThreadRunsOnTheFirstFreeOne() {
        await(block(2));
        CountDownLatch ran = new CountDownLatch(1);
        scheduler.schedule(ran::countDown);
        assertThat(threads.size()).isEqualTo(2);
        assertThat(ran.getCount()).isOne();

        end.countDown();

        await(ran);
    }

    @Test
    void oneMoreThreadIsStartedEachSecondWhileNoTaskEnds() {
        await(block(2));
        CountDownLatch more = block(MANY);
        timer.advanceTimeBy(SECOND.minusMillis(1));
        assertThat(threads.size()).isEqualTo(2);

        timer.advanceTimeBy(Duration.ofMillis(1));
        assertThat(threads.size()).isEqualTo(3);
        for (int seconds = 2; seconds <= MANY; seconds++) {
            timer.advanceTimeBy(SECOND);
            assertThat(threads.size()).isEqualTo(2 + seconds);
        }
        await(more);
    }

    @Test
    void theBoundIsResetWhenNoTaskWaits() {
        await(block(2));
        await(afterASecond(block(1)));
        timer.advanceTimeBy(SECOND);
        end.countDown();
        while (threads.size() > 2) {
            run(); // threads beyond the bound end when they have no task
        }

        assertThat(threads.size()).isLessThanOrEqualTo(2);
    }

    /** The bound is what it was, and threads beyond it are blocked still. */
    @Test
    void oneThreadMoreIsMadeWithinASecondAlthoughMoreThanTheBoundAreBlocked() {
        await(block(2));
        CountDownLatch beyond = block(3);
        for (int threadsBeyond = 0; threadsBeyond < 3; threadsBeyond++) {
            timer.advanceTimeBy(SECOND);
        }
        await(beyond);
        timer.advanceTimeBy(SECOND); // no task waits any more
        CountDownLatch inner = block(1);

        timer.advanceTimeBy(SECOND);

        assertThat(threads.size()).isEqualTo(6);
        await(inner);
    }

    @Test
    void aTaskThatWaitsAtTheEndRunsAlthoughMoreThreadsThanTheBoundAreBlocked() {
        await(block(2));
        await(afterASecond(block(1)));
        timer.advanceTimeBy(SECOND);
        CountDownLatch waiting = block(1);

        threads.end();

        await(waiting);
        timer.advanceTimeBy(SECOND);
        assertThat(threads.size()).isEqualTo(4);
    }

    private CountDownLatch afterASecond(CountDownLatch latch) {
        timer.advanceTimeBy(SECOND);
        return latch;
    }

    @Test
    void tasksAfterTheEndAreRefused() {
        scheduler.dispose();

        assertThatThrownBy(() -> scheduler.schedule(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }
}
