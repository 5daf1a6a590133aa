package io.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SpreadTest {

    @Test
    void medianOfAnOddCountIsTheOneInTheMiddle() {
        assertThat(Spread.of(List.of(9.0, 1.0, 4.0))).contains(new Spread(1, 4, 9, 3));
    }

    @Test
    void medianOfAnEvenCountIsBetweenTheTwoInTheMiddle() {
        assertThat(Spread.of(List.of(8.0, 1.0, 2.0, 4.0))).contains(new Spread(1, 3, 8, 4));
    }

    @Test
    void nothingHasNoSpread() {
        assertThat(Spread.of(List.of())).isEmpty();
        assertThat(Spread.ofRatios(Map.of(1, 2.0), Map.of(2, 2.0))).isEmpty();
    }

    @Test
    void ratiosAreWithinARoundAndNeverAcross() {
        Map<Integer, Double> above = Map.of(1, 10.0, 2, 30.0, 3, 5.0);
        Map<Integer, Double> below = Map.of(1, 5.0, 2, 10.0, 4, 1.0);
        assertThat(Spread.ofRatios(above, below)).contains(new Spread(2, 2.5, 3, 2));
    }

    @Test
    void ratioToNothingIsLeftOut() {
        assertThat(Spread.ofRatios(Map.of(1, 10.0, 2, 4.0), Map.of(1, 0.0, 2, 2.0)))
                .contains(new Spread(2, 2, 2, 1));
    }
}
