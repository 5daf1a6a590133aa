package io.holdfast.proof.soak;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Draws the curves of a soak as one SVG: a panel for each curve, with the line of its trend. It is readable on light and on dark pages. */
final class Curves {

    private static final int PANEL_WIDTH = 400;
    private static final int PANEL_HEIGHT = 150;
    private static final int LEFT = 62;
    private static final int RIGHT = 14;
    private static final int TOP = 30;
    private static final int BOTTOM = 24;
    private static final int PANELS_ABREAST = 2;

    /** The number of points of a curve: more would not be visible. */
    private static final int MOST_POINTS = 300;

    private static final List<Column> SHOWN = List.of(
            Column.HEAP,
            Column.DIRECT,
            Column.THREADS,
            Column.CLIENT_FILES,
            Column.SERVER_MEMORY,
            Column.STORE_BYTES,
            Column.KEYS,
            Column.CONNECTIONS,
            Column.SERVER_FILES,
            Column.CLIENT_CPU,
            Column.CYCLES,
            Column.HIGH);

    /** The colours are those of the benchmarks' charts. */
    private static final String HEAD = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" role="img" aria-labelledby="title desc"
                 font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12">
            <title id="title">The curves of a soak</title>
            <desc id="desc">%3$s</desc>
            <style>
            .p{fill:#fff}text{fill:#1f2328;font-variant-numeric:tabular-nums}.t{font-weight:600;font-size:13px}.g{stroke:#d8dee4}
            .c{fill:none;stroke:#0b62c4;stroke-width:1.4}.l{stroke:#b3400a;stroke-width:2}
            @media (prefers-color-scheme:dark){
            .p{fill:#0d1117}text{fill:#e6edf3}.g{stroke:#30363d}.c{stroke:#58a6ff}.l{stroke:#ff9a5c}
            }
            </style>
            <rect class="p" width="%1$d" height="%2$d" rx="8"/>
            """;

    private final List<Sample> samples;
    private final double[] seconds;
    private final double end;

    Curves(List<Sample> samples) {
        this.samples = samples;
        seconds = Sample.all(samples, Column.SECONDS);
        end = seconds[seconds.length - 1];
    }

    /**
     * A point of a panel.
     *
     * @param x to the right
     * @param y downwards
     */
    private record Point(double x, double y) {

        String text() {
            return String.format(Locale.ROOT, "%.1f,%.1f", x, y);
        }
    }

    String toSvg() {
        int rows = (SHOWN.size() + PANELS_ABREAST - 1) / PANELS_ABREAST;
        StringBuilder svg =
                new StringBuilder(HEAD.formatted(PANEL_WIDTH * PANELS_ABREAST, PANEL_HEIGHT * rows, description()));
        for (int i = 0; i < SHOWN.size(); i++) {
            svg.append("<g transform=\"translate(%d %d)\">\n"
                    .formatted(i % PANELS_ABREAST * PANEL_WIDTH, i / PANELS_ABREAST * PANEL_HEIGHT));
            panel(svg, SHOWN.get(i));
            svg.append("</g>\n");
        }
        return svg.append("</svg>\n").toString();
    }

    /** What the panels show, for readers who do not see them. */
    private String description() {
        return SHOWN.stream()
                .map(column -> {
                    DoubleSummaryStatistics all =
                            Arrays.stream(Sample.all(samples, column)).summaryStatistics();
                    return "%s: %s to %s"
                            .formatted(column.title(), column.text(all.getMin()), column.text(all.getMax()));
                })
                .collect(Collectors.joining("; ", "Over %s. ".formatted(time(end)), "."));
    }

    private void panel(StringBuilder svg, Column column) {
        double[] values = Sample.all(samples, column);
        double top = top(values);
        svg.append("<text class=\"t\" x=\"%d\" y=\"18\">%s</text>\n".formatted(LEFT, column.title()));
        for (int i = 0; i <= 2; i++) {
            Point left = point(0, top * i / 2, top);
            svg.append(line("g", left, point(end, top * i / 2, top)));
            svg.append(text("end", LEFT - 5, left.y() + 4, tick(column.text(top * i / 2))));
        }
        svg.append(text("start", LEFT, PANEL_HEIGHT - 8, "0"));
        svg.append(text("end", PANEL_WIDTH - RIGHT, PANEL_HEIGHT - 8, time(end)));
        String points = thinned().stream()
                .map(i -> point(seconds[i], values[i], top).text())
                .collect(Collectors.joining(" "));
        svg.append("<polyline class=\"c\" points=\"%s\"/>\n".formatted(points));
        Trend.ofSecondHalf(seconds, values).filter(unused -> column.share() > 0).ifPresent(trend -> {
            double rise = trend.slope() * end / 4;
            svg.append(line("l", point(end / 2, trend.level() - rise, top), point(end, trend.level() + rise, top)));
        });
    }

    /** Returns the top of the panel, which begins at zero: a round figure at or above all samples. */
    private static double top(double[] values) {
        double most = Arrays.stream(values).max().orElse(1);
        if (most <= 0) {
            return 1;
        }
        double power = Math.pow(10, Math.floor(Math.log10(most)));
        return Arrays.stream(new double[] {1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10})
                .map(step -> step * power)
                .filter(round -> round >= most)
                .findFirst()
                .orElse(most);
    }

    private List<Integer> thinned() {
        int step = Math.max(1, (samples.size() + MOST_POINTS - 1) / MOST_POINTS);
        List<Integer> kept = new ArrayList<>();
        for (int i = 0; i < samples.size(); i += step) {
            kept.add(i);
        }
        return kept;
    }

    private Point point(double time, double value, double top) {
        double width = PANEL_WIDTH - LEFT - RIGHT;
        double height = PANEL_HEIGHT - TOP - BOTTOM;
        return new Point(LEFT + width * time / end, TOP + height * (1 - value / top));
    }

    private static String line(String kind, Point from, Point to) {
        return String.format(
                Locale.ROOT,
                "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                kind,
                from.x(),
                from.y(),
                to.x(),
                to.y());
    }

    private static String text(String anchor, double x, double y, String text) {
        return String.format(
                Locale.ROOT, "<text text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", anchor, x, y, text);
    }

    /** Without zeros behind the point. */
    private static String tick(String text) {
        return text.replaceAll("\\.0+(?!\\d)", "").replaceAll("(\\.\\d*[1-9])0+(?!\\d)", "$1");
    }

    private static String time(double seconds) {
        return seconds < 7_200 ? "%.0f min".formatted(seconds / 60) : "%.1f h".formatted(seconds / 3_600);
    }
}
