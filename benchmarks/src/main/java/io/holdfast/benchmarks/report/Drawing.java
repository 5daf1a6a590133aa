package io.holdfast.benchmarks.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.style.Styler.LegendPosition;

/** A {@link Picture} as an SVG file. */
public final class Drawing {

    private static final int WIDTH = 760;
    private static final int HEIGHT = 420;

    private Drawing() {}

    /**
     * Writes it, unless nothing of it was measured.
     *
     * @param folder that is there
     * @return whether there was something to draw
     * @throws IOException if it cannot be written
     */
    public static boolean write(Picture picture, Collection<Sample> samples, Path folder) throws IOException {
        List<String> ticks = picture.ticks(samples);
        if (ticks.isEmpty()) {
            return false;
        }
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(picture.title())
                .xAxisTitle(picture.over())
                .yAxisTitle(picture.unit())
                .build();
        chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
        chart.getStyler().setLegendVisible(!picture.series().isEmpty());
        chart.getStyler().setYAxisDecimalPattern("#,##0.###");
        picture.lines(samples).forEach((name, line) -> {
            var unused = chart.addSeries(name.isEmpty() ? "HOLDFAST" : name, ticks, inOrder(ticks, line));
        });
        String file = folder.resolve(picture.file() + ".svg").toString();
        VectorGraphicsEncoder.saveVectorGraphic(chart, file, VectorGraphicsFormat.SVG);
        return true;
    }

    private static List<Number> inOrder(List<String> ticks, Map<String, Double> line) {
        List<Number> numbers = new ArrayList<>();
        ticks.forEach(tick -> numbers.add(line.getOrDefault(tick, 0.0)));
        return numbers;
    }
}
