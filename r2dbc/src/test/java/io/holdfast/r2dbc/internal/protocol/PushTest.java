package io.holdfast.r2dbc.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PushTest {

    @Test
    void notificationHasTheFormOfAnAnswer() {
        assertThat(Push.read("0 granted 1795376488211896 2032 3 one id3"))
                .containsExactly(
                        new Push("id3", new WatchSignal.Granted(1795376488211896L, 3, Duration.ofMillis(2032))));
        assertThat(Push.read("0 head 0 0 0 one id4")).containsExactly(new Push("id4", null));
        assertThat(Push.read("0 changed 0 0 0 two id5")).containsExactly(new Push("id5", new WatchSignal.Changed()));
    }

    /** Any user of the database may notify. */
    @Test
    void foreignMessagesAreLeftOut() {
        for (String foreign : List.of(
                "",
                "hello",
                "0 granted 1 2 x one id",
                "0 granted 99999999999999999999 1 1 one id",
                "0 held 1 1 1 one id",
                "1 held 0 0")) {
            assertThat(Push.read(foreign)).as(foreign).isEmpty();
        }
    }
}
