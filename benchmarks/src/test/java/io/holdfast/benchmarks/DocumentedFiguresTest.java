package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A figure that a page shows is the figure of a stored report, and a stored report says what its measurements say. */
class DocumentedFiguresTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Path RESULTS = ROOT.resolve("benchmarks/results");

    private static final String REPORT = """
            | workload | Holdfast | to | it has | ratio: min / median / max | goal | reached |
            | --- | ---: | --- | ---: | ---: | ---: | --- |
            | locks, cycles/s | 20 | A | 10 | 1.90 / **2.00** / 2.10 | ≥ 1.00 | yes |
            | locks, cycles/s | 20 | B | 40 | 0.40 / **0.50** / 0.60 | ≥ 1.00 | **no** |
            """;

    /** The text of each stored report, by the name of its run. */
    private static Map<String, String> reports() throws IOException {
        Map<String, String> reports = new TreeMap<>();
        try (Stream<Path> folders = Files.list(RESULTS)) {
            for (Path folder : folders.filter(Files::isDirectory).toList()) {
                reports.put(String.valueOf(folder.getFileName()), Files.readString(folder.resolve("report.md")));
            }
        }
        return reports;
    }

    private static List<ShownFigures> figures(String page, Map<String, String> reports) {
        Map<String, List<List<String>>> measured = new TreeMap<>();
        reports.forEach((name, text) -> measured.put(name, ShownFigures.rowsOfReport(text)));
        return ShownFigures.ofPage(page, measured);
    }

    @ParameterizedTest
    @CsvSource({"README.md, 3", "docs/decide/comparison.md, 20"})
    void eachFigureOfAPageIsInTheReportThatThePageNames(String page, int atLeast) throws IOException {
        List<ShownFigures> shown = figures(Files.readString(ROOT.resolve(page)), reports());

        assertThat(shown).as("rows with figures").hasSizeGreaterThanOrEqualTo(atLeast);
        assertThat(shown)
                .filteredOn(it -> !it.isMeasured())
                .extracting(ShownFigures::cells)
                .as("in no row of the report")
                .isEmpty();
    }

    @Test
    void eachStoredReportSaysWhatItsMeasurementsSay() throws IOException {
        for (Map.Entry<String, String> report : reports().entrySet()) {
            assertThat(report.getValue())
                    .as("./benchmarks/run report benchmarks/results/%s writes it anew", report.getKey())
                    .isEqualTo(Report.text(RESULTS.resolve(report.getKey())));
        }
    }

    private static List<ShownFigures> wrongIn(String page) {
        Map<String, String> reports = Map.of("redis", REPORT, "once", REPORT.replace("40 |", "41 |"));
        return figures(page, reports).stream().filter(it -> !it.isMeasured()).toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "| | Holdfast | to | it has | ratio |\n| --- |\n| locks, cycles/s | 20 | B | 40 | 0.40 / **0.50** / 0.60 |",
                "| what | a | b |\n| --- |\n| locks, cycles/s | 20 | 10 |",
                "<!-- figures: once -->\n| what | b |\n| --- |\n| locks, cycles/s | 41 |",
                "| what | a |\n| --- |\n| something else | 7 |",
            })
    void aPageMayShowAPartOfARow(String page) {
        assertThat(wrongIn(page)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "| | Holdfast | to | it has | ratio |\n| --- |\n| locks, cycles/s | 20 | B | 41 | 0.40 / **0.50** / 0.60 |",
                "| what | a | b |\n| --- |\n| locks, cycles/s | 10 | 20 |",
                "<!-- figures: once -->\n| what | b |\n| --- |\n| locks, cycles/s | 40 |",
                "| what | ratio |\n| --- |\n| a row under another name | 0.50 |",
            })
    void otherFiguresAndRowsOfNoReportAreFound(String page) {
        assertThat(wrongIn(page)).hasSize(1);
    }
}
