package io.holdfast.benchmarks.chart;

import io.holdfast.benchmarks.chart.Canvas.Anchor;
import io.holdfast.benchmarks.chart.Canvas.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Ratios of one library to others, a row for each. Equal factors are equally far apart, so twice as fast and half as fast are equally far
 * from 1.
 *
 * @param title what it is about
 * @param note what a row shows
 * @param parts one below the other
 */
public record Ratios(String title, String note, List<Part> parts) implements Chart {

    private static final int WIDTH = 840;
    private static final double ROW = 21;
    private static final double HEADING = 40;
    private static final double GAP = 10;
    private static final double FOOT = 34;

    /**
     * A row.
     *
     * @param workload what was measured; shown once for rows with the same that follow each other
     * @param peer with what it is compared
     * @param ratio to that
     */
    public record Row(String workload, String peer, Value ratio) {}

    /**
     * Rows of which the same side is the better one.
     *
     * @param heading what they have in common
     * @param isMoreBetter whether Holdfast is better right of 1
     * @param below in words, what a ratio below 1 means
     * @param above in words, what a ratio above 1 means
     * @param rows from top to bottom
     */
    public record Part(String heading, boolean isMoreBetter, String below, String above, List<Row> rows) {

        private double height() {
            return HEADING + ROW * rows.size() + GAP;
        }

        private boolean isLoss(double ratio) {
            return isMoreBetter ? ratio < 1 : ratio > 1;
        }
    }

    @Override
    public String toSvg() {
        Canvas canvas = new Canvas();
        Frame.head(canvas, title, note);
        Scale scale = scale();
        double top = Frame.TOP;
        Point columns = new Point(peersBegin(), top + HEADING - 8);
        canvas.text(Font.SMALL, Tone.QUIET, Anchor.START, columns, "compared with");
        canvas.text(Font.SMALL, Tone.QUIET, Anchor.END, new Point(valuesEnd(), columns.y()), "ratio");
        for (Part part : parts) {
            draw(canvas, part, scale, top);
            top += part.height();
        }
        for (double power : scale.powersOfTwo()) {
            Point at = new Point(scale.at(power), top + 12);
            canvas.text(Font.SMALL, Tone.QUIET, Anchor.MIDDLE, at, Scale.text(power));
        }
        return canvas.toSvg(WIDTH, top + FOOT, title, description());
    }

    private List<Row> all() {
        return parts.stream().flatMap(it -> it.rows().stream()).toList();
    }

    private String description() {
        List<String> told = new ArrayList<>();
        for (Part part : parts) {
            told.add(part.rows().stream()
                    .map(it -> "%s, to %s: %s"
                            .formatted(it.workload(), it.peer(), it.ratio().told()))
                    .collect(Collectors.joining("; ", part.heading() + ": ", "")));
        }
        return "%s %s.".formatted(note, String.join(". ", told));
    }

    /** Between powers of two, with all whiskers in it. */
    private Scale scale() {
        double least =
                all().stream().mapToDouble(it -> it.ratio().least()).min().orElse(1);
        double greatest =
                all().stream().mapToDouble(it -> it.ratio().greatest()).max().orElse(1);
        return Scale.logarithmic(
                Math.pow(2, Math.floor(Scale.log2(Math.min(least, 0.5)))),
                Math.pow(2, Math.ceil(Scale.log2(Math.max(greatest, 2)))),
                peersBegin() + widest(Font.LABEL, all().stream().map(Row::peer).toList()) + 2 * GAP,
                valuesEnd() - widest(Font.VALUE, values()) - 2 * GAP);
    }

    private double peersBegin() {
        List<String> workloads = all().stream().map(Row::workload).toList();
        return Frame.EDGE + widest(Font.LABEL, workloads) + 2 * GAP;
    }

    private static double valuesEnd() {
        return WIDTH - (double) Frame.EDGE;
    }

    private List<String> values() {
        return all().stream().map(it -> it.ratio().text()).toList();
    }

    private static double widest(Font font, List<String> texts) {
        return texts.stream().mapToDouble(font::width).max().orElse(0);
    }

    private void draw(Canvas canvas, Part part, Scale scale, double top) {
        double first = top + HEADING;
        double bottom = first + ROW * part.rows().size();
        Point one = new Point(scale.at(1), first);
        double worse = part.isMoreBetter() ? scale.begin() : one.x();
        double worseEnd = part.isMoreBetter() ? one.x() : scale.end();
        canvas.bar(Tone.SHADE, new Point(worse, first), worseEnd - worse, bottom - first);
        for (double power : scale.powersOfTwo()) {
            double x = scale.at(power);
            boolean isOne = power == 1;
            canvas.line(
                    isOne ? Tone.QUIET : Tone.GRID,
                    isOne ? 1.5 : 1,
                    List.of(new Point(x, first), new Point(x, bottom)));
        }
        canvas.text(Font.HEADING, Tone.TEXT, Anchor.START, new Point(Frame.EDGE, first - 10), part.heading());
        canvas.text(Font.SMALL, Tone.QUIET, Anchor.END, one.right(-8).down(-8), "← " + part.below());
        canvas.text(Font.SMALL, Tone.QUIET, Anchor.START, one.right(8).down(-8), part.above() + " →");
        String before = "";
        for (int i = 0; i < part.rows().size(); i++) {
            Row row = part.rows().get(i);
            Point at = new Point(Frame.EDGE, first + ROW * i + ROW / 2);
            if (!row.workload().equals(before)) {
                canvas.text(Font.LABEL, Tone.TEXT, Anchor.START, at.down(4.5), row.workload());
            }
            draw(canvas, row, part.isLoss(row.ratio().median()), scale, at);
            before = row.workload();
        }
    }

    private void draw(Canvas canvas, Row row, boolean isLoss, Scale scale, Point at) {
        canvas.text(Font.LABEL, Tone.TEXT, Anchor.START, new Point(peersBegin(), at.y() + 4.5), row.peer());
        Tone tone = isLoss ? Tone.LOSS : Tone.HOLDFAST;
        Value ratio = row.ratio();
        if (ratio.hasSpread()) {
            canvas.whisker(
                    tone, new Point(scale.at(ratio.least()), at.y()), new Point(scale.at(ratio.greatest()), at.y()));
        }
        Point median = new Point(scale.at(ratio.median()), at.y());
        if (isLoss) {
            canvas.hollow(Shape.DIAMOND, tone, median);
        } else {
            canvas.mark(Shape.CIRCLE, tone, median);
        }
        canvas.text(Font.VALUE, tone, Anchor.END, new Point(valuesEnd(), at.y() + 4.5), ratio.text());
    }
}
