package io.holdfast.benchmarks.chart;

import java.util.Locale;

/** A size and weight of text. The width of a text is an upper estimate, since each reader has other fonts. */
enum Font {
    /** Of the chart. */
    TITLE(17, true),
    /** Of a part of the chart. */
    HEADING(14, true),
    /** Names and values. */
    LABEL(13, false),
    /** A value that counts. */
    VALUE(13, true),
    /** Notes and numbers of a scale. */
    SMALL(12, false);

    private static final double BOLD = 1.09;

    private final int size;
    private final boolean isBold;

    Font(int size, boolean isBold) {
        this.size = size;
        this.isBold = isBold;
    }

    /** The height of a line of it is a quarter more. */
    int size() {
        return size;
    }

    /** The name of its class in the file. */
    String type() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** For the style of the file. */
    String rule() {
        return ".%s{font-size:%dpx%s}".formatted(type(), size, isBold ? ";font-weight:600" : "");
    }

    /** At most this wide in the fonts that browsers take for this. */
    double width(String text) {
        double ems = text.chars().mapToDouble(Font::ems).sum();
        return ems * size * (isBold ? BOLD : 1);
    }

    /** As wide as in DejaVu Sans, which is the widest of these fonts. */
    private static double ems(int character) {
        if ("iIjl|'".indexOf(character) >= 0) {
            return 0.29;
        }
        if (" .,:;()-/tfr".indexOf(character) >= 0) {
            return 0.39;
        }
        if ("mMwWOQ%@←→≥≤—".indexOf(character) >= 0) {
            return 0.97;
        }
        return Character.isUpperCase(character) ? 0.72 : 0.63;
    }
}
