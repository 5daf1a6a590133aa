package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.chart.Value;
import io.holdfast.benchmarks.report.Drawing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A stored chart shows what the stored measurements say. */
class StoredChartsTest {

    private static final Path RESULTS = Path.of("").toAbsolutePath().resolve("results");
    private static final List<String> TOGETHER = List.of("redis", "redlock", "zookeeper", "postgres");

    static List<Path> runs() throws IOException {
        try (Stream<Path> files = Files.list(RESULTS)) {
            return files.filter(Files::isDirectory).sorted().toList();
        }
    }

    private static Map<String, String> stored(Path run) throws IOException {
        Map<String, String> stored = new TreeMap<>();
        try (Stream<Path> files = Files.list(run)) {
            for (Path file : files.toList()) {
                if (file.toString().endsWith(Drawing.SVG)) {
                    stored.put(String.valueOf(file.getFileName()), Files.readString(file));
                }
            }
        }
        return stored;
    }

    @ParameterizedTest
    @MethodSource("runs")
    void eachRunHasTheChartsOfItsMeasurementsAndNoOthers(Path run) throws IOException {
        Map<String, String> drawn = Report.charts(run);
        Map<String, String> stored = stored(run);
        String how = "./benchmarks/run report benchmarks/results/%s draws them again".formatted(run.getFileName());
        assertThat(stored.keySet()).as(how).isEqualTo(drawn.keySet());
        drawn.forEach((name, text) ->
                assertThat(stored.get(name)).as("%s: %s", name, how).isEqualTo(text));
    }

    @Test
    void thePictureOfAllRatiosShowsTheRatiosOfTheReports() throws IOException {
        assertThat(Files.readString(RESULTS.resolve(Report.RATIOS)))
                .as("./benchmarks/run report benchmarks/results/redis draws it again")
                .isEqualTo(Report.ratios(RESULTS));
    }

    /** A ratio of the reports is found in the picture, by what a reader hears of it. */
    @Test
    void eachRatioToAnotherLockIsInThePicture() throws IOException {
        String picture = Files.readString(RESULTS.resolve(Report.RATIOS));
        for (String run : TOGETHER) {
            String report = Files.readString(RESULTS.resolve(run).resolve("report.md"));
            List<List<String>> rows = ShownFigures.rowsOfReport(report).stream()
                    .filter(it -> it.get(4).contains("/"))
                    .filter(it -> !it.get(2).startsWith("1 ") && !it.get(2).equals("all healthy"))
                    .toList();
            assertThat(rows).as(run).isNotEmpty().allSatisfy(row -> {
                String[] ratio = row.get(4).split(" / ", -1);
                // Beside a goal, the report shows one more figure of a ratio that is near it. The picture has no goals.
                String median = Value.number(Double.parseDouble(ratio[1]));
                assertThat(picture).contains(": %s (%s to %s)".formatted(median, ratio[0], ratio[2]));
            });
        }
    }

    @Test
    void aReportDrawsThePictureOfAllRatiosWhenTheOtherRunsAreBesideIt(@TempDir Path results) throws IOException {
        for (String run : TOGETHER) {
            copy(RESULTS.resolve(run), results.resolve(run));
            assertThat(results.resolve(Report.RATIOS)).doesNotExist();
            Path outdated = Files.createFile(results.resolve(run).resolve("chart-of-before.svg"));
            Path unused = Report.write(results.resolve(run));
            assertThat(outdated).doesNotExist();
            assertThat(stored(results.resolve(run))).isEqualTo(stored(RESULTS.resolve(run)));
        }
        assertThat(results.resolve(Report.RATIOS)).hasSameTextualContentAs(RESULTS.resolve(Report.RATIOS));
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path unused = Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }
}
