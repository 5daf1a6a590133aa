package io.holdfast.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.soak.Judgement.Verdict;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the judge on made-up curves with the samples of an hour. */
class TrendTest {

    private static final int SAMPLES = 1_200;
    private static final double INTERVAL = 3;
    private static final double LEVEL = 15e6;

    /** The noise of the heap, from one sample to the next. */
    private static final double NOISE = 40e3;

    /** The leak of 100 bytes in a thousand cycles, at 300 cycles a second. */
    private static final double LEAK_PER_SECOND = 30;

    private static Verdict judge(IntToDoubleFunction value) {
        double[] seconds =
                IntStream.range(0, SAMPLES).mapToDouble(i -> (i + 1) * INTERVAL).toArray();
        double[] values = IntStream.range(0, SAMPLES).mapToDouble(value).toArray();
        return Judgement.of(Column.HEAP, seconds, values).verdict();
    }

    @Test
    void noiseAloneIsNeverGrowth() {
        for (int seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            assertThat(judge(i -> LEVEL + NOISE * random.nextGaussian()))
                    .as("seed %d", seed)
                    .isNotEqualTo(Verdict.GROWING);
        }
    }

    /** Each sample is near the sample before it, as after a burst. */
    @Test
    void lastingNoiseIsNoGrowth() {
        int cried = 0;
        for (int seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            double[] last = {0};
            if (judge(i -> LEVEL + (last[0] = 0.9 * last[0] + NOISE * 0.4 * random.nextGaussian()))
                    == Verdict.GROWING) {
                cried++;
            }
        }
        assertThat(cried).isLessThanOrEqualTo(1);
    }

    /** An hour is nearly always enough to find it. */
    @Test
    void aLeakOfAHundredBytesInAThousandCyclesIsFound() {
        int found = 0;
        for (int seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            if (judge(i -> LEVEL + LEAK_PER_SECOND * INTERVAL * i + NOISE * random.nextGaussian()) == Verdict.GROWING) {
                found++;
            }
        }
        assertThat(found).isGreaterThanOrEqualTo(90);
    }

    @Test
    void aQuietCurveIsBounded() {
        Random random = new Random(1);
        assertThat(judge(i -> LEVEL + 5e3 * random.nextGaussian())).isEqualTo(Verdict.BOUNDED);
        assertThat(judge(i -> LEVEL)).isEqualTo(Verdict.BOUNDED);
        assertThat(judge(i -> 0)).isEqualTo(Verdict.BOUNDED);
    }

    /** The collector runs only from time to time, so samples contain garbage, too. */
    @Test
    void aSawtoothCurveIsNoGrowth() {
        for (int period = 5; period < 120; period++) {
            int length = period;
            assertThat(judge(i -> LEVEL + 4e6 * (i % length) / length))
                    .as("period %d", period)
                    .isNotEqualTo(Verdict.GROWING);
        }
    }

    @Test
    void oneStepIsNoGrowthButManyStepsAre() {
        for (int at = 0; at < SAMPLES; at += 50) {
            int step = at;
            assertThat(judge(i -> i < step ? LEVEL : LEVEL * 1.05))
                    .as("at %d", at)
                    .isNotEqualTo(Verdict.GROWING);
        }
        assertThat(judge(i -> LEVEL * (1 + Math.floorDiv(i, 100) * 0.01))).isEqualTo(Verdict.GROWING);
    }

    @Test
    void aCurveThatGrowsOnlyAtTheStartIsBounded() {
        assertThat(judge(i -> LEVEL - 3e6 * Math.exp(-i / 50.0))).isEqualTo(Verdict.BOUNDED);
    }

    @Test
    void aFallingCurveIsBounded() {
        assertThat(judge(i -> LEVEL - 1e3 * i)).isEqualTo(Verdict.BOUNDED);
    }

    @Test
    void aLeakOfAConnectionInAThousandCyclesIsFound() {
        double[] seconds =
                IntStream.range(0, 120).mapToDouble(i -> (i + 1) * INTERVAL).toArray();
        double[] files =
                IntStream.range(0, 120).mapToDouble(i -> 110 + i * 9 / 10).toArray();
        assertThat(Judgement.of(Column.CLIENT_FILES, seconds, files).verdict()).isEqualTo(Verdict.GROWING);
    }

    /** Bounded memories of a client fill in the first quarter of an hour. */
    @Test
    void theHeapIsNotJudgedBeforeItHasSettled() {
        double[] seconds =
                IntStream.range(0, 300).mapToDouble(i -> (i + 1) * INTERVAL).toArray();
        double[] heap =
                IntStream.range(0, 300).mapToDouble(i -> LEVEL + 3e3 * i).toArray();
        assertThat(Judgement.of(Column.HEAP, seconds, heap).verdict()).isEqualTo(Verdict.OPEN);
        assertThat(Judgement.of(Column.DIRECT, seconds, heap).verdict()).isEqualTo(Verdict.GROWING);
    }

    @Test
    void tooFewSamplesAreNotJudged() {
        double[] seconds = IntStream.range(0, 40).mapToDouble(i -> i * INTERVAL).toArray();
        assertThat(Judgement.of(Column.KEYS, seconds, seconds).verdict()).isEqualTo(Verdict.OPEN);
        assertThat(Judgement.of(Column.KEYS, new double[0], new double[0]).verdict())
                .isEqualTo(Verdict.OPEN);
    }
}
