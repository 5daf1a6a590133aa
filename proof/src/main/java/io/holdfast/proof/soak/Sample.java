package io.holdfast.proof.soak;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * All figures of one moment, or of the interval that ends with it.
 *
 * @param figures the figures by column; each column has one
 */
record Sample(Map<Column, Double> figures) {

    private static final Column[] COLUMNS = Column.values();

    static final String HEADER = Arrays.stream(COLUMNS)
            .map(column -> column.name().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(","));

    double of(Column column) {
        Double figure = figures.get(column);
        if (figure == null) {
            throw new IllegalStateException("a sample lacks " + column);
        }
        return figure;
    }

    static double[] all(List<Sample> samples, Column column) {
        return samples.stream().mapToDouble(sample -> sample.of(column)).toArray();
    }

    /** Returns the sample as a line of comma-separated values. */
    String line() {
        return Arrays.stream(COLUMNS).map(column -> plain(of(column))).collect(Collectors.joining(","));
    }

    static Sample parse(String line) {
        String[] words = line.split(",", -1);
        Map<Column, Double> figures = new EnumMap<>(Column.class);
        for (int i = 0; i < COLUMNS.length; i++) {
            figures.put(COLUMNS[i], Double.valueOf(words[i]));
        }
        return new Sample(figures);
    }

    private static String plain(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.3f", value);
    }
}
