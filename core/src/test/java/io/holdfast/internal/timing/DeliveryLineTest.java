package io.holdfast.internal.timing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

class DeliveryLineTest {

    /** Two threads that share one queue, so that no task waits for a busy thread. */
    private final Scheduler two = Schedulers.fromExecutorService(Executors.newScheduledThreadPool(2));

    private final Scheduler one = Schedulers.newSingle("one", true);

    @AfterEach
    void dispose() {
        two.dispose();
        one.dispose();
    }

    @Test
    void aDeliveryCausedByARunningOneRunsAfterItOnTheSameThread() throws InterruptedException {
        DeliveryLine line = new DeliveryLine(one);
        List<String> ran = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(1);

        line.deliver(() -> {
            line.deliver(() -> {
                ran.add("inner");
                threads.add(Thread.currentThread());
                done.countDown();
            });
            ran.add("outer");
            threads.add(Thread.currentThread());
        });

        await(done);
        assertThat(ran).containsExactly("outer", "inner");
        assertThat(threads.get(1)).isSameAs(threads.get(0)).isNotSameAs(Thread.currentThread());
    }

    @Test
    void aLongChainDoesNotOverflowTheStack() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(100_000);

        chain(new DeliveryLine(two), done);

        await(done);
    }

    @Test
    void aLongChainDoesNotOverflowTheStackWhenTheSchedulerIsDisposed() {
        two.dispose();
        CountDownLatch done = new CountDownLatch(100_000);

        chain(new DeliveryLine(two), done);

        assertThat(done.getCount()).as("all ran within the call").isZero();
    }

    @Test
    void aDeliveryThatThrowsAFatalErrorDoesNotStopTheOthers() {
        one.dispose();
        DeliveryLine line = new DeliveryLine(one);
        List<String> ran = new ArrayList<>();

        line.deliver(() -> {
            line.deliver(() -> ran.add("next"));
            throw new LinkageError("on purpose");
        });

        assertThat(ran).containsExactly("next");
    }

    @Test
    void aSlowDeliveryDoesNotDelayTheOneThatItCauses() throws InterruptedException {
        DeliveryLine line = new DeliveryLine(two);
        CountDownLatch broughtHasRun = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        AtomicBoolean wasHeldUp = new AtomicBoolean();

        line.deliver(() -> {
            line.deliver(broughtHasRun::countDown);
            wasHeldUp.set(!hasHappened(broughtHasRun));
            done.countDown();
        });

        await(done);
        assertThat(wasHeldUp).isFalse();
    }

    @Test
    void aChainWithoutAnEndLeavesRoomForOtherTasksOfTheScheduler() throws InterruptedException {
        DeliveryLine line = new DeliveryLine(one);
        AtomicBoolean isStopping = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch other = new CountDownLatch(1);

        endless(line, begun, isStopping);
        await(begun);
        Disposable unused = one.schedule(other::countDown);

        try {
            await(other);
        } finally {
            isStopping.set(true);
        }
    }

    @Test
    void aDeliveryThatThrowsDoesNotStopTheOthers() throws InterruptedException {
        DeliveryLine line = new DeliveryLine(one);
        CountDownLatch done = new CountDownLatch(1);

        line.deliver(() -> {
            line.deliver(done::countDown);
            throw new IllegalStateException("on purpose");
        });

        await(done);
    }

    @Test
    void deliveriesOfManyThreadsAllRun() throws InterruptedException {
        DeliveryLine line = new DeliveryLine(two);
        AtomicInteger toBring = new AtomicInteger(200_000);
        CountDownLatch done = new CountDownLatch(toBring.get());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            threads.add(new Thread(() -> {
                while (toBring.addAndGet(-2) >= 0) {
                    line.deliver(() -> {
                        line.deliver(done::countDown);
                        done.countDown();
                    });
                }
            }));
        }

        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        await(done);
    }

    private static void chain(DeliveryLine line, CountDownLatch links) {
        line.deliver(() -> {
            links.countDown();
            if (links.getCount() > 0) {
                chain(line, links);
            }
        });
    }

    private static void endless(DeliveryLine line, CountDownLatch begun, AtomicBoolean isStopping) {
        line.deliver(() -> {
            begun.countDown();
            if (!isStopping.get()) {
                endless(line, begun, isStopping);
            }
        });
    }

    private static boolean hasHappened(CountDownLatch latch) {
        try {
            return latch.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    private static void await(CountDownLatch latch) {
        assertThat(hasHappened(latch)).isTrue();
    }
}
