package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class MailboxTest {

    private final Mailbox mailbox = new Mailbox(defect -> {});

    @Test
    void aTaskRunsOnTheThreadThatPostsIt() {
        List<Thread> ran = new ArrayList<>();

        mailbox.post(() -> ran.add(Thread.currentThread()));

        assertThat(ran).containsExactly(Thread.currentThread());
    }

    @Test
    void aTaskPostedFromWithinATaskRunsAfterIt() {
        List<String> ran = new ArrayList<>();

        mailbox.post(() -> {
            mailbox.post(() -> {
                mailbox.post(() -> ran.add("innermost"));
                ran.add("inner");
            });
            mailbox.post(() -> ran.add("second inner"));
            ran.add("outer");
        });
        mailbox.post(() -> ran.add("last"));

        assertThat(ran).containsExactly("outer", "inner", "second inner", "innermost", "last");
    }

    @Test
    void aTaskThatThrowsDoesNotStopTheOthers() {
        List<String> ran = new ArrayList<>();

        mailbox.post(() -> {
            mailbox.post(() -> {
                throw new IllegalStateException("on purpose");
            });
            mailbox.post(() -> ran.add("queued behind"));
            throw new IllegalStateException("on purpose");
        });
        mailbox.post(() -> ran.add("next"));

        assertThat(ran).containsExactly("queued behind", "next");
    }

    @Test
    void aTaskThatThrowsAnErrorDoesNotStopTheOthers() {
        List<String> ran = new ArrayList<>();

        mailbox.post(() -> {
            mailbox.post(() -> ran.add("queued behind"));
            throw new AssertionError("on purpose");
        });
        mailbox.post(() -> ran.add("next"));

        assertThat(ran).containsExactly("queued behind", "next");
    }

    /** Users' code may take long, and wait for another thread. */
    @Test
    void anActionFollowsAllEventsAndKeepsNoOtherThreadFromItsEvent() {
        List<String> ran = new ArrayList<>();

        mailbox.post(() -> {
            mailbox.after(() -> {
                CompletableFuture<Void> other = CompletableFuture.runAsync(
                        () -> mailbox.post(() -> mailbox.after(() -> ran.add("of the other thread"))));
                assertThat(other).succeedsWithin(10, TimeUnit.SECONDS);
                ran.add("of this thread");
            });
            mailbox.post(() -> ran.add("second"));
            ran.add("first");
        });

        assertThat(ran).containsExactly("first", "second", "of the other thread", "of this thread");
    }

    /** Each answer makes users' code send a request that fails at once. */
    @Test
    void anActionThatPostsRunsWhatFollowsFromThatButNoActionBehindItself() {
        int many = 20_000;
        List<Integer> ran = new ArrayList<>();

        mailbox.post(() -> {
            for (int i = 0; i < many; i++) {
                int number = i;
                mailbox.after(() -> {
                    mailbox.post(() -> mailbox.after(() -> ran.add(-number)));
                    ran.add(number);
                });
            }
        });

        assertThat(ran).hasSize(2 * many).startsWith(0, 0, -1, 1, -2, 2);
    }

    @Test
    void anExceptionIsHandledAndStopsNoLaterEventAndNoAction() {
        List<String> ran = new ArrayList<>();
        Mailbox handled = new Mailbox(defect -> {
            ran.add(defect.getMessage());
            throw new IllegalStateException("the handler is broken too");
        });

        handled.post(() -> {
            handled.after(() -> {
                throw new IllegalStateException("users' code");
            });
            handled.after(() -> ran.add("action"));
            throw new LinkageError("a defect");
        });
        handled.post(() -> ran.add("later"));

        assertThat(ran).containsExactly("a defect", "users' code", "action", "later");
    }

    @Test
    void underContentionTasksRunOneAtATimeAndInTheOrderOfEachPoster() throws InterruptedException {
        int posters = 4;
        int each = 500_000;
        AtomicInteger running = new AtomicInteger();
        AtomicBoolean overlapped = new AtomicBoolean();
        AtomicInteger outOfOrder = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(posters * each);
        int[] last = new int[posters];
        List<Thread> threads = new ArrayList<>();
        for (int p = 0; p < posters; p++) {
            int poster = p;
            threads.add(new Thread(() -> {
                for (int i = 1; i <= each; i++) {
                    int number = i;
                    mailbox.post(() -> {
                        overlapped.compareAndSet(false, running.getAndIncrement() != 0);
                        if (last[poster] + 1 != number) {
                            outOfOrder.incrementAndGet();
                        }
                        last[poster] = number;
                        running.decrementAndGet();
                        all.countDown();
                    });
                }
            }));
        }

        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(all.await(0, TimeUnit.SECONDS)).as("all have run").isTrue();
        assertThat(overlapped).isFalse();
        assertThat(outOfOrder).as("tasks that overtook another of their poster").hasValue(0);
    }
}
