package io.holdfast.benchmarks.chart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class ScaleTest {

    @Test
    void aScaleFromZeroIsProportional() {
        Scale scale = Scale.fromZero(200, 100, 500);
        assertThat(List.of(scale.at(0), scale.at(50), scale.at(200))).containsExactly(100.0, 200.0, 500.0);
    }

    @Test
    void equalFactorsAreEquallyFarApartOnALogarithmicScale() {
        Scale scale = Scale.logarithmic(0.25, 16, 0, 600);
        assertThat(scale.at(0.5) - scale.at(0.25)).isCloseTo(100, within(1e-9));
        assertThat(scale.at(16) - scale.at(8)).isCloseTo(100, within(1e-9));
        assertThat(scale.at(1)).isCloseTo(200, within(1e-9));
        assertThat(scale.powersOfTwo()).containsExactly(0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0);
    }

    @Test
    void ticksAreRoundNumbersWithinTheScale() {
        assertThat(Scale.fromZero(135_263, 0, 1).ticks(5)).containsExactly(0.0, 50_000.0, 100_000.0);
        assertThat(Scale.fromZero(0.1, 0, 1).ticks(5)).hasSize(6).last().isEqualTo(0.1);
        assertThat(Scale.fromZero(0, 0, 1).ticks(5)).first().isEqualTo(0.0);
    }

    @Test
    void theLastTickOfAScaleThatIsRoundedUpIsNotBelowTheGreatestValue() {
        assertThat(Scale.roundedUp(7_982, 5)).isEqualTo(8_000);
        assertThat(Scale.roundedUp(8_000, 5)).isEqualTo(8_000);
        assertThat(Scale.roundedUp(8_001, 5)).isEqualTo(10_000);
    }

    @Test
    void numbersOfAScaleHaveCommasAndNoZerosBehindThePoint() {
        assertThat(List.of(0.0, 0.25, 0.125, 8.0, 12_345.0, 1_000_000.0))
                .extracting(Scale::text)
                .containsExactly("0", "0.25", "0.125", "8", "12,345", "1,000,000");
    }
}
