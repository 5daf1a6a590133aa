package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PushMessageTest {

    @Test
    void grantNamesClaimTokenLookAndKey() {
        PushMessage message = PushMessage.parse("G 1763683200000000 3 2150 4 id 1 holdfast:{a b}:mutex");
        assertThat(message)
                .isEqualTo(new PushMessage(
                        "id 1",
                        new WatchSignal.Granted(1763683200000000L, 3, Duration.ofMillis(2150)),
                        LockKeys.of("holdfast:", LockKey.of(LockKind.MUTEX, "a b"))));
    }

    @Test
    void hintNamesTheClaim() {
        assertThat(PushMessage.parse("C id1")).isEqualTo(new PushMessage("id1", new WatchSignal.Changed(), null));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "C",
                "C ",
                "G",
                "G 1 2 3",
                "G x 2 3 2 id p{a}:mutex",
                "G 1 2 3 9 id p{a}:mutex",
                "G 1 2 3 0 id p{a}:mutex",
                "G 1 2 3 -1 id p{a}:mutex",
                "G 1 2 3 2 id other",
                "G 1 2 3 2 id p{}:mutex",
                "hello"
            })
    void whatSomebodyElsePublishesIsIgnored(String text) {
        assertThat(PushMessage.parse(text)).isNull();
    }

    @Test
    void wordThatAClaimIsAtTheHeadIsRead() {
        assertThat(PushMessage.Head.parse("H 500 an id\n"))
                .isEqualTo(new PushMessage.Head("an id\n", Duration.ofMillis(500)));
        assertThat(PushMessage.Head.parse("H 500 ")).isNull();
        assertThat(PushMessage.Head.parse("H 9999999999 id")).isNull();
        assertThat(PushMessage.Head.parse("C id")).isNull();
        assertThat(PushMessage.parse("H 500 id")).isNull();
    }
}
