package io.holdfast.benchmarks.chart;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where the labels of lines stand: right of their ends, and below each other. The label of a line that ends early stands in the column of the
 * others, if it would cover something.
 */
final class EndLabels {

    private static final double ROW = 17;

    /** From the middle of a text to its base. */
    private static final double TO_BASE = 4.5;

    private static final double MARK = 7;

    /** So many places of a piece of a line are looked at. */
    private static final int STEPS = 50;

    private final List<End> ends;
    private final double column;
    private final double top;
    private final double bottom;

    /**
     * The end of a line.
     *
     * @param label of it
     * @param points all of the line
     * @param whiskers each with its two ends
     */
    record End(String label, List<Point> points, List<List<Point>> whiskers) {

        Point last() {
            return points.get(points.size() - 1);
        }
    }

    /**
     * A label.
     *
     * @param end that it is about
     * @param at where it begins, on its base
     */
    record Place(End end, Point at) {

        private boolean covers(Place other) {
            return overlaps(
                    other.at.x(), other.at.y() - ROW, other.at.x() + Font.LABEL.width(other.end.label()), other.at.y());
        }

        private boolean covers(Point mark) {
            return overlaps(mark.x() - MARK, mark.y() - MARK + TO_BASE, mark.x() + MARK, mark.y() + MARK + TO_BASE);
        }

        private boolean overlaps(double left, double top, double right, double bottom) {
            double end = at.x() + Font.LABEL.width(this.end.label());
            return at.x() < right && left < end && at.y() - ROW < bottom && top < at.y();
        }
    }

    /**
     * Of one chart.
     *
     * @param column where labels begin that stand right of all points
     * @param top of the first label
     * @param bottom of the last label
     */
    EndLabels(List<End> ends, double column, double top, double bottom) {
        this.ends = ends;
        this.column = column;
        this.top = top;
        this.bottom = bottom;
    }

    /**
     * All of them.
     *
     * @param last where the points of the greatest size begin
     * @param aside from the end of a line to its label
     */
    List<Place> places(double last, double aside) {
        List<End> right = new ArrayList<>();
        List<End> early = new ArrayList<>();
        ends.forEach(it -> (it.last().x() < last ? early : right).add(it));
        List<Place> free = new ArrayList<>();
        for (End end : early) {
            Place place = new Place(end, end.last().right(aside).down(TO_BASE));
            List<Place> others = new ArrayList<>(free);
            others.addAll(inColumn(right));
            if (others.stream().anyMatch(place::covers) || coversMark(place)) {
                right.add(end);
            } else {
                free.add(place);
            }
        }
        List<Place> places = new ArrayList<>();
        for (Place place : free) {
            if (inColumn(right).stream().anyMatch(place::covers)) {
                right.add(place.end());
            } else {
                places.add(place);
            }
        }
        places.addAll(inColumn(right));
        return places;
    }

    private boolean coversMark(Place place) {
        return ends.stream()
                .flatMap(it -> Stream.concat(Stream.of(it.points()), it.whiskers().stream()))
                .anyMatch(it -> place.covers(it.get(0)) || covers(place, it));
    }

    private static boolean covers(Place place, List<Point> line) {
        for (int i = 1; i < line.size(); i++) {
            Point from = line.get(i - 1);
            Point to = line.get(i);
            for (int step = 0; step <= STEPS; step++) {
                double share = (double) step / STEPS;
                if (place.covers(from.right(share * (to.x() - from.x())).down(share * (to.y() - from.y())))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** From the top down, each below the one before; then from the bottom up, as far as they would be too low. */
    private List<Place> inColumn(List<End> some) {
        List<End> sorted = some.stream()
                .sorted(Comparator.comparingDouble((End it) -> it.last().y()))
                .toList();
        double[] y = new double[sorted.size()];
        for (int i = 0; i < y.length; i++) {
            double free = i == 0 ? top : y[i - 1] + ROW;
            y[i] = Math.max(sorted.get(i).last().y() + TO_BASE, free);
        }
        for (int i = y.length - 1; i >= 0; i--) {
            double free = i == y.length - 1 ? bottom : y[i + 1] - ROW;
            y[i] = Math.min(y[i], free);
        }
        List<Place> places = new ArrayList<>();
        for (int i = 0; i < y.length; i++) {
            places.add(new Place(sorted.get(i), new Point(column, y[i])));
        }
        return places;
    }
}
