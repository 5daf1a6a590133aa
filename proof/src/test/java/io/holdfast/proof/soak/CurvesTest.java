package io.holdfast.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.soak.Judgement.Verdict;
import java.io.StringReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

/** Tests the picture and the report of made-up samples. */
class CurvesTest {

    private static final int SAMPLES = 2_000;

    private static Sample sample(int number) {
        Map<Column, Double> figures = new EnumMap<>(Column.class);
        Arrays.stream(Column.values()).forEach(column -> figures.put(column, 5.0));
        figures.put(Column.SECONDS, number * 14.4);
        figures.put(Column.CLIENT_FILES, 100.0 + Math.floorDiv(number, 10));
        return new Sample(figures);
    }

    private static final List<Sample> ALL =
            IntStream.rangeClosed(1, SAMPLES).mapToObj(CurvesTest::sample).toList();

    @Test
    void aPictureIsAnXmlDocumentWithACurveForEachPanel() throws Exception {
        String svg = new Curves(ALL).toSvg();
        Document picture =
                DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
        assertThat(picture.getElementsByTagName("polyline").getLength()).isEqualTo(12);
        assertThat(svg).hasSizeLessThan(100_000).contains("prefers-color-scheme:dark");
        assertThat(picture.getElementsByTagName("desc").item(0).getTextContent())
                .contains("client: open files: 100 to 300;");
    }

    @Test
    void numbersOfAPanelHaveCommasAndNoZerosBehindThePoint() {
        String svg = new Curves(List.of(keys(1, 1_500), keys(2, 10))).toSvg();
        assertThat(svg).contains(">1,600<", ">800<", ">0<").doesNotContain(".0<", ".00 MB<");
    }

    private static Sample keys(int number, double keys) {
        Map<Column, Double> figures = new EnumMap<>(Column.class);
        Arrays.stream(Column.values()).forEach(column -> figures.put(column, 5.0));
        figures.put(Column.SECONDS, number * 14.4);
        figures.put(Column.KEYS, keys);
        return new Sample(figures);
    }

    @Test
    void samplesReadBackAreEqual() {
        Sample written = sample(3);
        assertThat(Sample.parse(written.line())).isEqualTo(written);
        assertThat(Sample.HEADER.split(",", -1)).hasSameSizeAs(Column.values());
    }

    @Test
    void aReportNamesGrowingCurvesAndTheDuration() {
        SoakRun.Order order =
                new SoakRun.Order(Target.REDIS, Duration.ofHours(8), 300, Flaw.LEAK_CONNECTION, Path.of("x"));
        SoakReport report = new SoakReport(order, ALL);
        assertThat(report.verdict()).isEqualTo(Verdict.GROWING);
        assertThat(report.toMarkdown())
                .contains("8 h 0 min 0 s")
                .contains("leak_connection")
                .containsPattern("client: open files .* GROWS")
                .containsPattern("store: keys .* bounded");
    }

    @Test
    void theMemoryOfZooKeeperServersIsNotJudged() {
        assertThat(Column.SERVER_MEMORY.isJudged(Target.ZOOKEEPER)).isFalse();
        assertThat(Column.SERVER_MEMORY.isJudged(Target.POSTGRESQL)).isTrue();
    }
}
