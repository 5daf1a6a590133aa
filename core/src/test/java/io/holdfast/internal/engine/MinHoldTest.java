package io.holdfast.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.timing.Validity;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MinHoldTest {

    private static final Duration USUAL = Duration.ofSeconds(30);
    private static final long OPERATION = Duration.ofSeconds(2).toNanos();

    @ParameterizedTest
    @ValueSource(longs = {1, 50_000_000, 40_000_000_000L, 3_600_000_000_000L, 31_622_400_000_000_000L})
    void theLeaseIsValidForTheMinimumAndOneOperation(long leftNanos) {
        Duration lease = LockTerms.lease(USUAL, leftNanos, OPERATION);

        assertThat(Validity.until(0, lease.toNanos())).isGreaterThanOrEqualTo(leftNanos + OPERATION);
        assertThat(lease).isGreaterThanOrEqualTo(USUAL);
        assertThat(lease.toNanos())
                .isLessThanOrEqualTo(Math.max(USUAL.toNanos(), (leftNanos + OPERATION) / 98 * 100 + 3_000_000));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE / 2})
    void withoutARestTheLeaseIsTheUsualOne(long leftNanos) {
        assertThat(LockTerms.lease(USUAL, leftNanos, OPERATION)).isSameAs(USUAL);
    }
}
