package io.holdfast.benchmarks.chart;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * From values to pixels.
 *
 * @param from the least value
 * @param to the greatest value
 * @param begin the pixel of the least value
 * @param end the pixel of the greatest value
 * @param isLogarithmic whether equal factors are equally far apart
 */
record Scale(double from, double to, double begin, double end, boolean isLogarithmic) {

    private static final List<Double> STEPS = List.of(1.0, 2.0, 2.5, 5.0, 10.0);

    /** Begins at zero, so that the length of a bar is its value. */
    static Scale fromZero(double to, double begin, double end) {
        return new Scale(0, to > 0 ? to : 1, begin, end, false);
    }

    static Scale logarithmic(double from, double to, double begin, double end) {
        return new Scale(from, to > from ? to : from * 10, begin, end, true);
    }

    double at(double value) {
        double share = isLogarithmic ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from);
        return begin + share * (end - begin);
    }

    /** Round numbers within a scale that begins at zero, about as many as wanted. */
    List<Double> ticks(int wanted) {
        double step = step(wanted);
        List<Double> ticks = new ArrayList<>();
        for (int i = 0; i * step <= to * (1 + 1e-9); i++) {
            ticks.add(i * step);
        }
        return ticks;
    }

    /** The next tick after the last that a scale to this value would have. */
    static double roundedUp(double most, int wanted) {
        double step = fromZero(most, 0, 1).step(wanted);
        return step * Math.ceil(most / step - 1e-9);
    }

    private double step(int wanted) {
        double least = to / wanted;
        double power = Math.pow(10, Math.floor(Math.log10(least)));
        return STEPS.stream()
                .map(it -> it * power)
                .filter(it -> it >= least * (1 - 1e-9))
                .findFirst()
                .orElseThrow();
    }

    /** All powers of two within it. */
    List<Double> powersOfTwo() {
        List<Double> powers = new ArrayList<>();
        for (int i = (int) Math.ceil(log2(from) - 1e-9); i <= log2(to) + 1e-9; i++) {
            powers.add(Math.pow(2, i));
        }
        return powers;
    }

    static double log2(double value) {
        return Math.log(value) / Math.log(2);
    }

    /** A tick for people. */
    static String text(double tick) {
        String text = String.format(Locale.ROOT, "%,.4f", tick);
        return text.replaceAll("0+$", "").replaceAll("\\.$", "");
    }
}
