package io.holdfast.r2dbc.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PushTest {

    private static final Answer GRANTED = new Answer(0, "granted", 1795376488211896L, 2032, 3, "one", "id3");
    private static final Answer HEAD = new Answer(0, "head", 0, 0, 0, "one", "id4");
    private static final Answer CHANGED = new Answer(0, "changed", 0, 0, 0, "two", "id5");

    @Test
    void writtenMessagesAreParsedBack() {
        List<Push.Message> messages = Push.messages(List.of(GRANTED, HEAD, CHANGED));
        assertThat(messages).extracting(Push.Message::channel).containsExactly("one", "two");
        assertThat(Push.read(messages.get(0).text()))
                .containsExactly(
                        new Push("id3", new WatchSignal.Granted(1795376488211896L, 3, Duration.ofMillis(2032))),
                        new Push("id4", null));
        assertThat(Push.read(messages.get(1).text())).containsExactly(new Push("id5", new WatchSignal.Changed()));
    }

    @Test
    void answerAndItsMessageHaveTheSameSignal() {
        for (Answer answer : List.of(GRANTED, HEAD, CHANGED)) {
            String text = Push.messages(List.of(answer)).get(0).text();
            assertThat(Push.read(text)).containsExactly(Push.of(answer));
        }
    }

    /** PostgreSQL refuses a notification of 8 000 bytes, and with it the whole transaction. */
    @Test
    void noMessageIsTooLongForTheServer() {
        List<Answer> many = IntStream.range(0, 1_000)
                .mapToObj(i -> new Answer(0, "granted", Long.MAX_VALUE, Long.MAX_VALUE, i, "one", "x".repeat(32)))
                .toList();
        List<Push.Message> messages = Push.messages(many);
        assertThat(messages).allSatisfy(it -> assertThat(it.text()).hasSizeLessThan(8_000));
        assertThat(messages.stream().flatMap(it -> Push.read(it.text()).stream()))
                .hasSize(1_000);
    }

    /** Any user of the database may notify. */
    @Test
    void foreignMessagesAreLeftOut() {
        assertThat(Push.read("")).isEmpty();
        assertThat(Push.read("hello")).isEmpty();
        assertThat(Push.read("G 1 2 x id")).isEmpty();
        assertThat(Push.read("G 99999999999999999999 1 1 id")).isEmpty();
        assertThat(Push.read("X id\nC id")).containsExactly(new Push("id", new WatchSignal.Changed()));
    }
}
