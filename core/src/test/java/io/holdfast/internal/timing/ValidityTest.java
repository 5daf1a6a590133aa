package io.holdfast.internal.timing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ValidityTest {

    private static final long MILLI = 1_000_000;

    @Test
    void onePercentAndTwoMillisecondsAreTakenOff() {
        assertThat(Validity.until(5, 1_000 * MILLI)).isEqualTo(5 + 988 * MILLI);
    }

    @Test
    void aLeaseOfNothingIsOverAtOnce() {
        assertThat(Validity.isOver(Validity.until(0, 0), 0)).isTrue();
        assertThat(Validity.isOver(Validity.until(0, 2 * MILLI), 0)).isTrue();
    }

    @Test
    void aDeadlineIsOverFromItsInstantOn() {
        assertThat(Validity.isOver(10, 9)).isFalse();
        assertThat(Validity.isOver(10, 10)).isTrue();
        assertThat(Validity.isOver(10, 11)).isTrue();
    }

    @Test
    void timesAreComparedAcrossTheWrapOfNanoTime() {
        long sent = Long.MAX_VALUE - 10;
        long until = Validity.until(sent, 1_000 * MILLI);

        assertThat(until).isNegative();
        assertThat(Validity.isOver(until, sent)).isFalse();
        assertThat(Validity.isOver(until, until - 1)).isFalse();
        assertThat(Validity.isOver(until, until)).isTrue();
        assertThat(Validity.earlier(sent, until)).isEqualTo(sent);
        assertThat(Validity.earlier(until, sent)).isEqualTo(sent);
    }
}
