package io.holdfast.benchmarks.chart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.benchmarks.chart.Drawn.Box;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Bars, lines and ratios of values that are made up. */
class ChartsTest {

    private static Value value(double least, double median, double greatest) {
        return new Value(least, median, greatest, 3);
    }

    private static Value once(double value) {
        return new Value(value, value, value, 1);
    }

    private static Bars bars(Value ours, Value theirs) {
        return new Bars(
                "Locks & \"more\" <here>",
                "Cycles",
                List.of(new Bars.Panel(
                        "One lock",
                        List.of(
                                new Bars.Bar("Holdfast", Tone.HOLDFAST, ours),
                                new Bars.Bar("Another", Tone.ORANGE, theirs)))));
    }

    private static double width(Box bar) {
        return bar.right() - bar.left();
    }

    @Test
    void barsAreAsLongAsTheirMedians() throws Exception {
        List<Box> bars =
                Drawn.of(bars(value(800, 1_000, 2_000), once(500)).toSvg()).bars();
        assertThat(bars).extracting(Box::what).containsExactly("a bar, holdfast", "a bar, orange");
        assertThat(bars.get(0).left())
                .as("the zero of both")
                .isEqualTo(bars.get(1).left());
        assertThat(width(bars.get(1)) / width(bars.get(0))).isCloseTo(0.5, within(0.01));
    }

    @Test
    void theWhiskerOfABarGoesFromTheLeastToTheGreatest() throws Exception {
        Drawn drawn = Drawn.of(bars(value(500, 1_000, 2_000), once(800)).toSvg());
        Box bar = drawn.bars().get(0);
        List<Point> whisker = drawn.lines(Tone.TEXT).get(0);
        assertThat(whisker.get(0).x() - bar.left()).isCloseTo(width(bar) / 2, within(0.2));
        assertThat(whisker.get(1).x() - bar.left()).isCloseTo(width(bar) * 2, within(0.2));
        assertThat(drawn.lines(Tone.TEXT))
                .as("a line and two caps, and none for one round")
                .hasSize(3);
    }

    @Test
    void namesAndValuesAreText() throws Exception {
        Drawn drawn = Drawn.of(bars(value(800, 12_345, 20_000), once(0.5)).toSvg());
        assertThat(drawn.texts())
                .contains("Locks & \"more\" <here>", "One lock", "Holdfast", "12,345", "Another", "0.50", "10,000");
        assertThat(drawn.only("title")).isEqualTo("Locks & \"more\" <here>");
        assertThat(drawn.only("desc")).isEqualTo("Cycles. One lock: Holdfast 12,345 (800 to 20,000); Another 0.50.");
    }

    @Test
    void panelsHaveOneScaleUnlessTheirValuesAreFarApart() throws Exception {
        List<Box> near = Drawn.of(two(100, 250).toSvg()).bars();
        assertThat(width(near.get(1)) / width(near.get(0))).isCloseTo(2.5, within(0.01));
        List<Box> far = Drawn.of(two(100, 10_000).toSvg()).bars();
        assertThat(width(far.get(1)) / width(far.get(0))).isCloseTo(1, within(0.01));
        assertThat(two(100, 250).toSvg()).doesNotContain("scales differ");
        assertThat(two(100, 10_000).toSvg()).contains("scales differ");
    }

    private static Bars two(double first, double second) {
        return new Bars(
                "T",
                "U",
                List.of(
                        new Bars.Panel("A", List.of(new Bars.Bar("a", Tone.LIMIT, once(first)))),
                        new Bars.Panel("B", List.of(new Bars.Bar("b", Tone.LIMIT, once(second))))));
    }

    private static Lines lines(boolean isLogarithmic, Map<Double, Value> ours, Map<Double, Value> theirs) {
        return new Lines(
                "Growth",
                "Cycles",
                "waiters",
                isLogarithmic,
                List.of(
                        new Lines.Line("Holdfast", Tone.HOLDFAST, new TreeMap<>(ours)),
                        new Lines.Line("Another", Tone.ORANGE, new TreeMap<>(theirs))));
    }

    @Test
    void pointsOfALineAreWhereTheirValuesAre() throws Exception {
        Map<Double, Value> ours = Map.of(10.0, once(1_000), 100.0, once(500), 1_000.0, once(0));
        List<Point> line =
                Drawn.of(lines(true, ours, ours).toSvg()).lines(Tone.HOLDFAST).get(0);
        assertThat(line.get(1).x() - line.get(0).x())
                .isCloseTo(line.get(2).x() - line.get(1).x(), within(0.2));
        assertThat(line.get(1).y() - line.get(0).y())
                .isCloseTo(line.get(2).y() - line.get(1).y(), within(0.2));
        List<Point> even =
                Drawn.of(lines(false, ours, ours).toSvg()).lines(Tone.HOLDFAST).get(0);
        assertThat((even.get(2).x() - even.get(1).x())
                        / (even.get(1).x() - even.get(0).x()))
                .isCloseTo(10, within(0.2));
    }

    @Test
    void whiskersOfALineGoFromTheLeastToTheGreatestAndStandBesideEachOther() throws Exception {
        Map<Double, Value> ours = Map.of(1.0, value(500, 600, 1_000), 10.0, once(500), 100.0, once(500));
        Drawn drawn = Drawn.of(lines(true, ours, ours).toSvg());
        List<Point> one = drawn.lines(Tone.HOLDFAST).get(1);
        List<Point> other = drawn.lines(Tone.ORANGE).get(1);
        double pixels = one.get(0).y() - one.get(1).y();
        double zero = Double.parseDouble(drawn.text("0").getAttribute("y")) - 4;
        assertThat(zero - one.get(0).y()).as("from zero to the least").isCloseTo(pixels, within(0.3));
        assertThat(other.get(0).x() - one.get(0).x()).isGreaterThan(4);
    }

    @Test
    void labelsOfLinesThatEndAtOneValueStandBelowEachOther() throws Exception {
        Map<Double, Value> same = Map.of(1.0, once(10), 10.0, once(20), 100.0, once(30));
        Drawn drawn = Drawn.of(lines(true, same, same).toSvg());
        assertThat(drawn.texts()).contains("Holdfast 30.0", "Another 30.0");
        assertThat(drawn.labels())
                .filteredOn(it -> it.what().endsWith(" 30.0"))
                .satisfies(it -> assertThat(it.get(0).overlaps(it.get(1))).isFalse());
    }

    private static Ratios ratios(boolean isMoreBetter, Value... all) {
        List<Ratios.Row> rows = Stream.of(all)
                .map(it -> new Ratios.Row("one lock", "Curator", it))
                .toList();
        return new Ratios(
                "Ratios", "To others.", List.of(new Ratios.Part("Redis", isMoreBetter, "slower", "faster", rows)));
    }

    @Test
    void aRatioStandsAtItsMedianWithAWhiskerAtEqualFactors() throws Exception {
        Drawn drawn = Drawn.of(ratios(true, value(1, 2, 4)).toSvg());
        List<Point> whisker = drawn.lines(Tone.HOLDFAST).get(0);
        Box mark = drawn.marks().get(0);
        double middle = (mark.left() + mark.right()) / 2;
        assertThat(middle - whisker.get(0).x()).isCloseTo(whisker.get(1).x() - middle, within(0.2));
        double one = Double.parseDouble(drawn.text("1").getAttribute("x"));
        assertThat(whisker.get(0).x()).as("the least is 1").isCloseTo(one, within(0.2));
    }

    @Test
    void aLossHasAnotherColourAndShape() throws Exception {
        Drawn more =
                Drawn.of(ratios(true, value(0.4, 0.5, 0.6), value(1.9, 2, 2.1)).toSvg());
        assertThat(more.marks()).extracting(Box::what).containsExactly("page loss-line", "holdfast page-line");
        assertThat(more.text("0.50").getAttribute("class")).contains("loss");
        assertThat(more.text("2.00").getAttribute("class")).contains("holdfast");
        Drawn less =
                Drawn.of(ratios(false, value(0.4, 0.5, 0.6), value(1.9, 2, 2.1)).toSvg());
        assertThat(less.marks()).extracting(Box::what).containsExactly("holdfast page-line", "page loss-line");
    }

    @Test
    void aWorkloadThatRepeatsIsNamedOnce() throws Exception {
        assertThat(Drawn.of(ratios(true, once(2), once(3)).toSvg()).texts()).containsOnlyOnce("one lock");
    }
}
