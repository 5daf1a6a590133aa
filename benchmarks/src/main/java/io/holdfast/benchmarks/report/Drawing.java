package io.holdfast.benchmarks.report;

import io.holdfast.benchmarks.chart.Chart;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The charts of a run, as files. */
public final class Drawing {

    /** What the names of the files end with. */
    public static final String SVG = ".svg";

    private Drawing() {}

    /**
     * All that the run has measured.
     *
     * @return the text of each file by its name
     */
    public static Map<String, String> files(Collection<Sample> samples) {
        Map<String, String> files = new TreeMap<>();
        for (Picture picture : Pictures.all()) {
            Optional<Chart> chart = picture.draw(samples);
            if (chart.isPresent()) {
                files.put(picture.file() + SVG, chart.get().toSvg());
            }
        }
        return files;
    }

    /** The lines of a report that show them. */
    public static String links(Collection<Sample> samples) {
        StringBuilder links = new StringBuilder();
        for (Picture picture : Pictures.all()) {
            picture.draw(samples)
                    .ifPresent(it -> links.append("![%s](%s%s)%n".formatted(it.title(), picture.file(), SVG)));
        }
        return links.toString();
    }
}
