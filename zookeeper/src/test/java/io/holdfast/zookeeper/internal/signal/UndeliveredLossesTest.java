package io.holdfast.zookeeper.internal.signal;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LossReason;
import org.junit.jupiter.api.Test;

class UndeliveredLossesTest {

    private final UndeliveredLosses missed = new UndeliveredLosses();

    @Test
    void lossIsTakenOnce() {
        missed.add("a", LossReason.DISCONNECTED);
        assertThat(missed.take("a")).isEqualTo(LossReason.DISCONNECTED);
        assertThat(missed.take("a")).isNull();
    }

    @Test
    void onlyTheNewestAreKept() {
        for (int i = 0; i <= UndeliveredLosses.MOST; i++) {
            missed.add("claim " + i, LossReason.NOT_HELD);
        }
        assertThat(missed.take("claim 0")).isNull();
        assertThat(missed.take("claim 1")).isEqualTo(LossReason.NOT_HELD);
    }
}
