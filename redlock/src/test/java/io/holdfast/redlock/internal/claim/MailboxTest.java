package io.holdfast.redlock.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;

class MailboxTest {

    private final Mailbox mailbox = new Mailbox();
    private final List<String> done = new ArrayList<>();

    @AfterEach
    void reset() {
        Hooks.resetOnErrorDropped();
    }

    @Test
    void anEventOfAnEventIsHandledAfterItAndActionsFollowAllEvents() {
        mailbox.post(() -> {
            mailbox.after(() -> done.add("action"));
            mailbox.post(() -> done.add("second"));
            done.add("first");
        });
        assertThat(done).containsExactly("first", "second", "action");
    }

    /** Users' code may take long, and wait for another thread. */
    @Test
    void anActionKeepsNoOtherThreadFromItsEvent() {
        mailbox.post(() -> mailbox.after(() -> {
            CompletableFuture<Void> other = CompletableFuture.runAsync(
                    () -> mailbox.post(() -> mailbox.after(() -> done.add("of the other thread"))));
            assertThat(other).succeedsWithin(10, TimeUnit.SECONDS);
            done.add("of this thread");
        }));
        assertThat(done).containsExactly("of the other thread", "of this thread");
    }

    @Test
    void eventsOfManyThreadsAreHandledOneAtATimeAndNoneIsLost() {
        int[] unguarded = new int[1];
        AtomicInteger actions = new AtomicInteger();
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(CompletableFuture.runAsync(() -> {
                for (int k = 0; k < 10_000; k++) {
                    mailbox.post(() -> {
                        unguarded[0]++;
                        mailbox.after(actions::incrementAndGet);
                    });
                }
            }));
        }
        assertThat(CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)))
                .succeedsWithin(30, TimeUnit.SECONDS);
        mailbox.post(() -> assertThat(unguarded[0]).isEqualTo(40_000));
        assertThat(actions).hasValue(40_000);
    }

    @Test
    void anExceptionStopsNoLaterEventAndNoAction() {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        mailbox.post(() -> {
            mailbox.after(() -> {
                throw new IllegalStateException("users' code");
            });
            mailbox.after(() -> done.add("action"));
            throw new LinkageError("a defect");
        });
        mailbox.post(() -> done.add("later"));
        assertThat(done).containsExactly("action", "later");
        assertThat(dropped).hasSize(2);
    }
}
