package io.holdfast.benchmarks.chart;

import java.util.Locale;

/**
 * A median over some rounds, with the least and the greatest.
 *
 * @param least of all rounds
 * @param median of all rounds
 * @param greatest of all rounds
 * @param rounds how many there were
 */
public record Value(double least, double median, double greatest, int rounds) {

    /** One round alone has no spread. */
    boolean hasSpread() {
        return rounds > 1;
    }

    /** The median for people. */
    String text() {
        return number(median);
    }

    /** All of it for people. */
    String told() {
        return hasSpread() ? "%s (%s to %s)".formatted(text(), number(least), number(greatest)) : text();
    }

    /** Three figures that count, and all those before the point. */
    public static String number(double value) {
        double size = Math.abs(value);
        if (size >= 100) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        if (size >= 10) {
            return String.format(Locale.ROOT, "%.1f", value);
        }
        return size >= 0.1 || size == 0
                ? String.format(Locale.ROOT, "%.2f", value)
                : String.format(Locale.ROOT, "%.4f", value);
    }
}
