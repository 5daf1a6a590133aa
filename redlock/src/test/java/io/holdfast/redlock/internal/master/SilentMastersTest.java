package io.holdfast.redlock.internal.master;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SilentMastersTest {

    private static final long PAUSE = SilentMasters.PAUSE.toNanos();

    private final SilentMasters silent = new SilentMasters(5);

    private void fallsSilent(int master) {
        for (int i = 0; i < SilentMasters.TIMEOUTS; i++) {
            assertThat(silent.passesOver(master, i)).isFalse();
            silent.timedOut(master, i);
        }
    }

    @Test
    void aMasterThatDoesNotAnswerGetsOneRequestInAWhile() {
        fallsSilent(2);
        long last = SilentMasters.TIMEOUTS - 1;
        assertThat(silent.passesOver(2, last)).isTrue();
        assertThat(silent.passesOver(2, last + PAUSE - 1)).isTrue();
        assertThat(silent.passesOver(2, last + PAUSE)).isFalse();
        assertThat(silent.passesOver(2, last + PAUSE))
                .as("a request was sent just now")
                .isTrue();
        silent.timedOut(2, last + PAUSE);
        assertThat(silent.passesOver(2, last + 2 * PAUSE)).isFalse();
        assertThat(silent.passesOver(1, last)).as("another one").isFalse();
    }

    @Test
    void anAnswerEndsItsSilence() {
        fallsSilent(2);
        silent.answered(2);
        assertThat(silent.passesOver(2, 10)).isFalse();
        silent.timedOut(2, 10);
        assertThat(silent.passesOver(2, 10)).as("one slow answer").isFalse();
    }

    @Test
    void whenAMajorityIsSilentAllMastersGetRequests() {
        fallsSilent(0);
        fallsSilent(1);
        assertThat(silent.passesOver(0, 10)).isTrue();
        fallsSilent(2);
        assertThat(silent.passesOver(0, 10)).isFalse();
        assertThat(silent.passesOver(0, 10)).isFalse();
        silent.answered(3);
        assertThat(silent.passesOver(0, 10)).as("it answered before").isFalse();
        silent.answered(2);
        assertThat(silent.passesOver(0, 10)).isTrue();
    }
}
