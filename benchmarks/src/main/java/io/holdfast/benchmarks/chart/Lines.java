package io.holdfast.benchmarks.chart;

import io.holdfast.benchmarks.chart.Canvas.Anchor;
import io.holdfast.benchmarks.chart.Canvas.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * How something grows with a size: a line for each way, with its name and its last value at its end. Values begin at zero.
 *
 * @param title what it is about
 * @param unit of the values, and which of them are better
 * @param size what grows, in the plural
 * @param isLogarithmic whether equal factors of the size are equally far apart; otherwise sizes begin at zero
 * @param lines all of them
 */
public record Lines(String title, String unit, String size, boolean isLogarithmic, List<Line> lines) implements Chart {

    private static final double PLOT_TOP = Frame.TOP + 14;
    private static final double PLOT_BOTTOM = PLOT_TOP + 260;
    private static final double HEIGHT = PLOT_BOTTOM + 54;
    private static final double GAP = 12;
    private static final int TICKS = 5;
    private static final List<Shape> SHAPES = List.of(Shape.values());

    /** Points of one size are so far apart that their whiskers do not cover each other. */
    private static final double APART = 7;

    /**
     * A line.
     *
     * @param name at its end
     * @param tone of it
     * @param values by size
     */
    public record Line(String name, Tone tone, SortedMap<Double, Value> values) {

        /** With a copy of the values. */
        public Line {
            values = new TreeMap<>(values);
        }

        private Value last() {
            return List.copyOf(values.values()).get(values.size() - 1);
        }

        private String label() {
            return "%s %s".formatted(name, last().text());
        }
    }

    @Override
    public String toSvg() {
        Canvas canvas = new Canvas();
        List<Value> all =
                lines.stream().flatMap(it -> it.values().values().stream()).toList();
        Frame.head(canvas, title, "%s. %s".formatted(unit, Frame.ofRounds(all)));
        Scale up = up(all);
        Scale right = right(up);
        grid(canvas, right, up);
        for (int i = 0; i < lines.size(); i++) {
            draw(canvas, i, right, up);
        }
        labels(canvas, right, up);
        return canvas.toSvg(Frame.WIDTH, HEIGHT, title, description());
    }

    private String description() {
        return lines.stream()
                .map(line -> line.values().entrySet().stream()
                        .map(it -> "%s with %s".formatted(it.getValue().told(), Scale.text(it.getKey())))
                        .collect(Collectors.joining(", ", line.name() + " ", "")))
                .collect(Collectors.joining("; ", "%s, by the number of %s. ".formatted(unit, size), "."));
    }

    private static Scale up(List<Value> all) {
        double most = all.stream().mapToDouble(Value::greatest).max().orElse(1);
        return Scale.fromZero(Scale.roundedUp(most, TICKS), PLOT_BOTTOM, PLOT_TOP);
    }

    private Scale right(Scale up) {
        double numbers = up.ticks(TICKS).stream()
                .mapToDouble(it -> Font.SMALL.width(Scale.text(it)))
                .max()
                .orElse(0);
        double labels = lines.stream()
                .mapToDouble(it -> Font.LABEL.width(it.label()))
                .max()
                .orElse(0);
        double begin = Frame.EDGE + numbers + 2 * GAP;
        double end = Frame.WIDTH - Frame.EDGE - labels - 2 * GAP;
        double most = sizes().get(sizes().size() - 1);
        return isLogarithmic ? Scale.logarithmic(sizes().get(0), most, begin, end) : Scale.fromZero(most, begin, end);
    }

    private List<Double> sizes() {
        return lines.stream()
                .flatMap(it -> it.values().keySet().stream())
                .distinct()
                .sorted()
                .toList();
    }

    private void grid(Canvas canvas, Scale right, Scale up) {
        double left = right.begin() - GAP;
        for (double tick : up.ticks(TICKS)) {
            double y = up.at(tick);
            canvas.line(Tone.GRID, 1, List.of(new Point(left, y), new Point(right.end() + GAP, y)));
            canvas.text(Font.SMALL, Tone.QUIET, Anchor.END, new Point(left - 6, y + 4), Scale.text(tick));
        }
        for (double each : isLogarithmic ? sizes() : right.ticks(TICKS)) {
            Point below = new Point(right.at(each), PLOT_BOTTOM + 18);
            canvas.text(Font.SMALL, Tone.QUIET, Anchor.MIDDLE, below, Scale.text(each));
        }
        Point middle = new Point((right.begin() + right.end()) / 2, PLOT_BOTTOM + 38);
        canvas.text(Font.SMALL, Tone.QUIET, Anchor.MIDDLE, middle, size);
    }

    private boolean hasSpread() {
        return lines.stream().anyMatch(it -> it.values().values().stream().anyMatch(Value::hasSpread));
    }

    private List<Point> points(int number, Scale right, Scale up) {
        double aside = hasSpread() ? (number - (lines.size() - 1) / 2.0) * APART : 0;
        List<Point> points = new ArrayList<>();
        lines.get(number)
                .values()
                .forEach((each, value) -> points.add(new Point(right.at(each) + aside, up.at(value.median()))));
        return points;
    }

    private List<List<Point>> whiskers(int number, Scale right, Scale up) {
        List<Point> points = points(number, right, up);
        List<Value> values = List.copyOf(lines.get(number).values().values());
        List<List<Point>> whiskers = new ArrayList<>();
        for (int i = 0; i < points.size(); i++) {
            Value value = values.get(i);
            if (value.hasSpread()) {
                double x = points.get(i).x();
                whiskers.add(List.of(new Point(x, up.at(value.least())), new Point(x, up.at(value.greatest()))));
            }
        }
        return whiskers;
    }

    private void draw(Canvas canvas, int number, Scale right, Scale up) {
        Line line = lines.get(number);
        List<Point> points = points(number, right, up);
        canvas.line(line.tone(), 2.2, points);
        whiskers(number, right, up).forEach(it -> canvas.whisker(line.tone(), it.get(0), it.get(1)));
        Shape shape = SHAPES.get(number % SHAPES.size());
        points.forEach(it -> canvas.mark(shape, line.tone(), it));
    }

    /** A label that is not right of its line has a thin line that leads to it. */
    private void labels(Canvas canvas, Scale right, Scale up) {
        List<EndLabels.End> ends = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            ends.add(new EndLabels.End(lines.get(i).label(), points(i, right, up), whiskers(i, right, up)));
        }
        double width = hasSpread() ? lines.size() * APART / 2 : 0;
        double column = right.end() + width + GAP;
        for (EndLabels.Place place :
                new EndLabels(ends, column, PLOT_TOP, PLOT_BOTTOM).places(right.end() - width, width + GAP)) {
            Point begin = place.at().right(-3).down(-4.5);
            Point end = place.end().last();
            if (begin.x() - end.x() > 2 * width + 2 * GAP) {
                canvas.line(Tone.QUIET, 1, List.of(begin, end));
            }
            canvas.text(
                    Font.LABEL, Tone.TEXT, Anchor.START, place.at(), place.end().label());
        }
    }
}
