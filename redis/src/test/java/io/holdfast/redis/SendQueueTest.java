package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SendQueueTest {

    private final SendQueue queue = new SendQueue();
    private final List<String> sent = new ArrayList<>();

    @Test
    void whatIsLeftDuringACommandIsSentAfterIt() {
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
}
