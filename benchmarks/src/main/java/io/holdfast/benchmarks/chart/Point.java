package io.holdfast.benchmarks.chart;

/**
 * A place in a chart, in pixels.
 *
 * @param x to the right
 * @param y downwards
 */
record Point(double x, double y) {

    Point right(double distance) {
        return new Point(x + distance, y);
    }

    Point down(double distance) {
        return new Point(x, y + distance);
    }
}
