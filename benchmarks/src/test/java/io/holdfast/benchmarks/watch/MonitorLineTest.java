package io.holdfast.benchmarks.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class MonitorLineTest {

    @Test
    void commandIsTheFirstWordAfterTheClient() {
        assertThat(MonitorLine.command("+1339518083.107412 [0 127.0.0.1:60866] \"EVALSHA\" \"abc] \\\"x\" \"1\""))
                .isEqualTo("evalsha");
    }

    @Test
    void anotherLineIsRefused() {
        assertThatThrownBy(() -> MonitorLine.command("+OK")).hasMessageContaining("+OK");
    }
}
