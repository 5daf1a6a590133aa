package io.holdfast.r2dbc.internal.lane;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SweepPaceTest {

    private static final long PAUSE = SweepPace.LEAST_PAUSE.toNanos();

    private final SweepPace pace = new SweepPace();

    @Test
    void firstSweepComesAfterSomeBatches() {
        assertThat(asked(SweepPace.LEAST_BATCHES - 1, 5)).isZero();
        assertThat(asked(1, 5)).isOne();
    }

    @Test
    void manyBatchesSweepOncePerPause() {
        assertThat(asked(10_000, 0)).isOne();
        assertThat(asked(10_000, PAUSE - 1)).isZero();
        assertThat(asked(10_000, PAUSE)).isOne();
        assertThat(asked(10_000, PAUSE + 1)).isZero();
    }

    @Test
    void fewBatchesInALongTimeDoNotSweep() {
        assertThat(asked(SweepPace.LEAST_BATCHES, 0)).isOne();
        assertThat(asked(SweepPace.LEAST_BATCHES - 1, 10 * PAUSE)).isZero();
    }

    private long asked(int batches, long atNanos) {
        return IntStream.range(0, batches)
                .filter(i -> pace.isDueBehindABatch(atNanos))
                .count();
    }
}
