/**
 * Charts as SVG files. Text stays text, and each file has colours for light and for dark pages. Charting libraries for Java turn text into
 * outlines, or write fixed colours. Pure: equal values make equal files, on each machine.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.benchmarks.chart;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
