package io.holdfast.benchmarks.chart;

/** A picture that can be drawn. */
public interface Chart {

    /** What it is about, for people. */
    String title();

    /** The picture, as a file that stands alone. */
    String toSvg();
}
