package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BackoffTest {

    private static final double ALMOST_ONE = Math.nextDown(1.0);

    private final Backoff doubling = Backoff.exponential(Duration.ofMillis(20), Duration.ofSeconds(1));

    @Test
    void aFixedPauseIsAlwaysTheSame() {
        Backoff fixed = Backoff.fixed(Duration.ofMillis(250));

        assertThat(fixed.pause(1, 0)).isEqualTo(Duration.ofMillis(250));
        assertThat(fixed.pause(Integer.MAX_VALUE, ALMOST_ONE)).isEqualTo(Duration.ofMillis(250));
    }

    @Test
    void anExponentialPauseDoublesUpToItsLimit() {
        assertThat(doubling.pause(1, 0.5)).isEqualTo(Duration.ofMillis(20));
        assertThat(doubling.pause(2, 0.5)).isEqualTo(Duration.ofMillis(40));
        assertThat(doubling.pause(6, 0.5)).isEqualTo(Duration.ofMillis(640));
        assertThat(doubling.pause(7, 0.5)).isEqualTo(Duration.ofSeconds(1));
        assertThat(doubling.pause(Integer.MAX_VALUE, 0.5)).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void jitterShortensAPauseByAtMostItsShare() {
        Random random = new Random(1);
        Backoff half = doubling.withJitter(0.5);
        for (int i = 0; i < 10_000; i++) {
            int attempt = 1 + random.nextInt(20);
            Duration full = doubling.pause(attempt, 0);
            assertThat(half.pause(attempt, random.nextDouble())).isBetween(full.dividedBy(2), full);
        }
        assertThat(half.pause(1, 0)).isEqualTo(Duration.ofMillis(20));
        assertThat(doubling.withJitter(1).pause(1, ALMOST_ONE)).isBetween(Duration.ZERO, Duration.ofNanos(1));
    }

    @Test
    void theLongestPauseIsExactEnough() {
        Backoff year = Backoff.exponential(Duration.ofDays(300), Duration.ofDays(366));

        assertThat(year.pause(2, 0)).isEqualTo(Duration.ofDays(366));
    }

    @Test
    void aPauseOutOfRangeIsRefusedWithItsNameValueAndRule() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Backoff.fixed(Duration.ofNanos(999_999)))
                .withMessage("backoff pause must be from 1 ms to 366 days, was PT0.000999999S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Backoff.exponential(Duration.ZERO, Duration.ofSeconds(1)))
                .withMessage("backoff first must be from 1 ms to 366 days, was PT0S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Backoff.exponential(Duration.ofSeconds(1), Duration.ofSeconds(Long.MAX_VALUE)))
                .withMessageStartingWith("backoff max must be from 1 ms to 366 days, was ");
    }

    @Test
    void aLimitBelowTheFirstPauseIsRefusedWithBothValues() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Backoff.exponential(Duration.ofSeconds(2), Duration.ofSeconds(1)))
                .withMessageContainingAll("max", "PT1S", "first", "PT2S", "at least");
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, 1.1, Double.NaN, Double.POSITIVE_INFINITY})
    void aJitterOutOfRangeIsRefused(double share) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> doubling.withJitter(share))
                .withMessage("backoff jitter must be from 0 to 1, was " + share);
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, 1, Double.NaN})
    void aRandomOutOfRangeIsRefused(double random) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> doubling.pause(1, random))
                .withMessageContaining("random");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> doubling.pause(0, 0.5))
                .withMessageContaining("attempt");
    }

    @Test
    void equalBackoffsHaveEqualHashCodes() {
        Backoff zero = doubling.withJitter(0.0);
        Backoff minusZero = doubling.withJitter(-0.0);

        assertThat(zero).isEqualTo(doubling).isEqualTo(minusZero).hasSameHashCodeAs(minusZero);
        assertThat(zero).isNotEqualTo(doubling.withJitter(0.1));
    }
}
