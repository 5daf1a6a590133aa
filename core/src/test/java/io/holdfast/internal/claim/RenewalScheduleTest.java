package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class RenewalScheduleTest {

    private static final long MILLI = 1_000_000;

    @Test
    void aLeaseIsRenewedAfterNineToTenTenthsOfAThird() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 100_000; i++) {
            long sent = random.nextLong(); // of any sign: the origin of nanoTime is arbitrary
            long lease = (10 + random.nextInt(100_000)) * MILLI;

            long after = RenewalSchedule.next(sent, lease, random.nextLong() >>> 1) - sent;

            assertThat(after).as("seed %d", seed).isBetween(lease / 3 - lease / 30, lease / 3);
        }
    }

    @Test
    void leasesOfOneClientThatAreGrantedWithinAGridStepAreRenewedAtTheSameInstant() {
        long lease = 30_000 * MILLI;
        long step = 1_000 * MILLI;
        for (long phase : new long[] {0, 1, 12_345_678_901L, Long.MAX_VALUE}) {
            for (long origin : new long[] {0, -70_000 * MILLI, 70_000 * MILLI}) {
                long first = RenewalSchedule.next(origin, lease, phase);
                long startOfStep = first - 10_000 * MILLI;

                assertThat(RenewalSchedule.next(startOfStep, lease, phase)).isEqualTo(first);
                assertThat(RenewalSchedule.next(startOfStep + step - 1, lease, phase))
                        .isEqualTo(first);
                assertThat(RenewalSchedule.next(startOfStep + step, lease, phase))
                        .isEqualTo(first + step);
            }
        }
    }

    @Test
    void theShortestLeasesHaveARenewalToo() {
        for (long lease = 0; lease < 100; lease++) {
            assertThat(RenewalSchedule.next(-5, lease, 7) + 5).isBetween(lease / 3 - lease / 30, lease / 3);
        }
    }

    @Test
    void aRetryComesAfterATenthOfTheRemainingTimeWithinBounds() {
        assertThat(RenewalSchedule.retry(0, 5_000 * MILLI)).isEqualTo(500 * MILLI);
        assertThat(RenewalSchedule.retry(0, 60_000 * MILLI)).isEqualTo(1_000 * MILLI);
        assertThat(RenewalSchedule.retry(0, 1)).isEqualTo(10 * MILLI);
        assertThat(RenewalSchedule.retry(Long.MAX_VALUE, Long.MIN_VALUE + 5_000 * MILLI))
                .isEqualTo(Long.MAX_VALUE + 500 * MILLI);
    }
}
