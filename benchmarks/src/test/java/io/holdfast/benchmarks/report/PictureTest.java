package io.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.chart.Bars;
import io.holdfast.benchmarks.chart.Lines;
import io.holdfast.benchmarks.chart.Value;
import io.holdfast.benchmarks.report.Picture.Form;
import io.holdfast.benchmarks.report.Picture.Source;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PictureTest {

    private static final Source CYCLES = new Source(new Selector("RedisSome", "cycles/s", Map.of()), Map.of());

    private static Picture picture(Form form) {
        return new Picture("file", "Title", "Unit", List.of(CYCLES), List.of("inFlight"), form);
    }

    private static Sample sample(String peer, String inFlight, double value, int round) {
        return new Sample("RedisSome", Map.of("peer", peer, "inFlight", inFlight), "cycles/s", value, round);
    }

    private static final List<Sample> SAMPLES = List.of(
            sample("LETTUCE", "64", 7, 1),
            sample("HOLDFAST", "1024", 5, 1),
            sample("REDISSON", "1024", 6, 1),
            sample("HOLDFAST", "64", 1, 1),
            sample("HOLDFAST", "64", 3, 2),
            sample("HOLDFAST", "1", 3, 1),
            new Sample("Another", Map.of("peer", "CURATOR", "inFlight", "2"), "cycles/s", 9, 1));

    private static Bars bars(List<Sample> samples) {
        return (Bars) picture(Form.BARS).draw(samples).orElseThrow();
    }

    @Test
    void barsHaveAPartForEachSizeInTheirOrderAndNoneWithoutAComparison() {
        assertThat(bars(SAMPLES).panels())
                .extracting(Bars.Panel::heading)
                .as("the one with 1 has a single bar")
                .containsExactly("64 locks at a time", "1,024 locks at a time");
    }

    @Test
    void barsHaveNamesForUsersWithHoldfastFirstAndLimitsLast() {
        assertThat(bars(SAMPLES).panels().get(0).bars())
                .extracting(Bars.Bar::name)
                .containsExactly("Holdfast", "raw Lettuce (limit)");
    }

    @Test
    void aBarIsTheMedianOfTheRoundsWithTheLeastAndTheGreatest() {
        assertThat(bars(SAMPLES).panels().get(0).bars().get(0).value()).isEqualTo(new Value(1, 2, 3, 2));
    }

    @Test
    void withoutAnythingToCompareThereIsNoChart() {
        List<Sample> alone = List.of(sample("HOLDFAST", "1", 1, 1), sample("HOLDFAST", "64", 2, 1));
        for (Form form : Form.values()) {
            assertThat(picture(form).draw(List.of())).as("%s of nothing", form).isEmpty();
            assertThat(picture(form).draw(alone)).as("%s of one library", form).isEmpty();
        }
    }

    @Test
    void linesNeedThreeSizes() {
        List<Sample> two = SAMPLES.stream()
                .filter(it -> !it.parameters().containsValue("1"))
                .toList();
        assertThat(picture(Form.LINES_OR_BARS).draw(SAMPLES)).containsInstanceOf(Lines.class);
        assertThat(picture(Form.LINES_OR_BARS).draw(two)).containsInstanceOf(Bars.class);
        assertThat(picture(Form.LINES).draw(two)).isEmpty();
    }

    @Test
    void aLineHasAValueForEachSizeThatWasMeasured() {
        Lines lines = (Lines) picture(Form.LINES).draw(SAMPLES).orElseThrow();
        assertThat(lines.lines())
                .extracting(Lines.Line::name)
                .containsExactly("Holdfast", "Redisson, plain lock", "raw Lettuce (limit)");
        assertThat(lines.lines().get(0).values())
                .containsExactlyEntriesOf(new TreeMap<>(Map.of(
                        1.0, new Value(3, 3, 3, 1), 64.0, new Value(1, 2, 3, 2), 1_024.0, new Value(5, 5, 5, 1))));
        assertThat(lines.size()).isEqualTo("inFlight");
    }

    @Test
    void aMasterThatHangsIsInTheNameOfTheBar() {
        List<Sample> samples = new ArrayList<>();
        for (String health : List.of("ONE_HUNG", "HEALTHY")) {
            samples.add(new Sample(
                    "RedlockSome", Map.of("peer", "HOLDFAST", "inFlight", "1", "masters", health), "cycles/s", 1, 1));
        }
        Source source = new Source(new Selector("RedlockSome", "cycles/s", Map.of()), Map.of());
        Picture picture = new Picture("f", "T", "U", List.of(source), List.of("inFlight"), Form.BARS);
        assertThat(((Bars) picture.draw(samples).orElseThrow()).panels().get(0).bars())
                .extracting(Bars.Bar::name)
                .containsExactly("Holdfast", "Holdfast, one master hung");
    }

    @Test
    void filesOfThePicturesAreDistinct() {
        assertThat(Pictures.all()).extracting(Picture::file).doesNotHaveDuplicates();
    }
}
