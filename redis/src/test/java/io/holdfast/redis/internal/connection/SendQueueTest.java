package io.holdfast.redis.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SendQueueTest {

    private final SendQueue queue = new SendQueue(drain -> false, () -> {});
    private final List<String> sent = new ArrayList<>();

    @Test
    void commandsThatAreAddedDuringACommandAreSentAfterIt() {
        queue.send(() -> {
            queue.send(() -> sent.add("second"));
            sent.add("first");
        });
        assertThat(sent).containsExactly("first", "second");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void commandThatThrowsDoesNotKeepTheOthersFromBeingSent(boolean isError) {
        queue.send(() -> {
            queue.send(() -> sent.add("left meanwhile"));
            if (isError) {
                throw new StackOverflowError("of the test");
            }
            throw new IllegalStateException("of the test");
        });
        queue.send(() -> sent.add("later"));
        assertThat(sent).containsExactly("left meanwhile", "later");
    }

    @Test
    void commandsOfAllThreadsAreSentByTheOneThatWrites() {
        List<Runnable> tasks = new ArrayList<>();
        SendQueue ofOneThread = new SendQueue(tasks::add, () -> {});

        ofOneThread.send(() -> sent.add("first"));
        ofOneThread.send(() -> sent.add("second"));

        assertThat(sent).isEmpty();
        assertThat(tasks).as("one task for what is left meanwhile").hasSize(1);
        tasks.get(0).run();
        assertThat(sent).containsExactly("first", "second");
    }

    @Test
    void commandsAreSentByTheirOwnThreadWhenTheOneThatWritesHasEnded() {
        SendQueue ended = new SendQueue(
                task -> {
                    throw new RejectedExecutionException("of the test");
                },
                () -> {});

        ended.send(() -> sent.add("refused by the driver"));

        assertThat(sent).containsExactly("refused by the driver");
    }

    @Test
    void theBatchIsSentAfterTheLastQueuedCommand() {
        List<Runnable> tasks = new ArrayList<>();
        SendQueue collecting = new SendQueue(tasks::add, () -> sent.add("all"));
        collecting.send(() -> sent.add("first"));
        collecting.send(() -> sent.add("second"));

        tasks.get(0).run();

        assertThat(sent)
                .startsWith("first", "second", "all")
                .filteredOn(it -> !it.equals("all"))
                .hasSize(2);
    }

    @Test
    void commandsThatAreAddedWhileTheBatchIsSentAreSentToo() {
        List<SendQueue> self = new ArrayList<>();
        SendQueue collecting = new SendQueue(task -> false, () -> {
            sent.add("all");
            if (sent.size() < 4) {
                self.get(0).send(() -> sent.add("caused"));
            }
        });
        self.add(collecting);

        collecting.send(() -> sent.add("first"));

        assertThat(sent).containsExactly("first", "all", "caused", "all");
    }
}
