package io.holdfast.proof.soak;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The trend of a curve in its second half.
 *
 * <p>The samples of that half are put into blocks, and each block counts as its median. Neighbouring samples depend on each other, as on a sawtooth curve,
 * so single samples would overstate the evidence. The slope is that of Theil and Sen: the median of the slopes between any two blocks. Its bounds are
 * Sen's: they contain the true slope with a probability of 99.9 %, if the blocks are independent.
 *
 * @param level the median of the half
 * @param slope per second
 * @param least lower bound of the slope
 * @param most upper bound of the slope
 */
record Trend(double level, double slope, double least, double most) {

    /** The lowest number of blocks for a trend. */
    static final int FEWEST_BLOCKS = 12;

    private static final int MOST_BLOCKS = 24;
    private static final int SAMPLES_OF_A_BLOCK = 4;

    /** 99.9 % of a normal distribution are within this many standard deviations of the mean. */
    private static final double DEVIATIONS = 3.29;

    /** Returns the trend; empty if there are too few samples. */
    static Optional<Trend> ofSecondHalf(double[] seconds, double[] values) {
        if (seconds.length == 0) {
            return Optional.empty();
        }
        double middle = seconds[seconds.length - 1] / 2;
        int from = (int) Arrays.stream(seconds).filter(time -> time < middle).count();
        int count = seconds.length - from;
        int blocks = Math.min(MOST_BLOCKS, count / SAMPLES_OF_A_BLOCK);
        if (blocks < FEWEST_BLOCKS) {
            return Optional.empty();
        }
        double[] times = blocks(seconds, from, blocks);
        double[] medians = blocks(values, from, blocks);
        return Optional.of(of(times, medians));
    }

    private static double[] blocks(double[] values, int from, int blocks) {
        int count = values.length - from;
        return IntStream.range(0, blocks)
                .mapToDouble(i ->
                        median(Arrays.copyOfRange(values, from + count * i / blocks, from + count * (i + 1) / blocks)))
                .toArray();
    }

    private static Trend of(double[] times, double[] values) {
        int n = times.length;
        double[] slopes = IntStream.range(0, n)
                .boxed()
                .flatMapToDouble(i ->
                        IntStream.range(i + 1, n).mapToDouble(j -> (values[j] - values[i]) / (times[j] - times[i])))
                .sorted()
                .toArray();
        double deviation = Math.sqrt(n * (n - 1.0) * (2.0 * n + 5) / 18);
        int away = (int) Math.ceil(DEVIATIONS * deviation / 2);
        int middle = slopes.length / 2;
        return new Trend(
                median(values),
                median(slopes),
                slopes[Math.max(0, middle - away)],
                slopes[Math.min(slopes.length - 1, middle + away)]);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
