package io.holdfast.benchmarks.chart;

import io.holdfast.benchmarks.chart.Canvas.Anchor;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Bars that lie, each with its name and its value before it. Scales begin at zero. Panels
 * have a common one, unless their values are far apart.
 *
 * @param title what it is about
 * @param unit of the values, and which of them are better
 * @param panels one below the other
 */
public record Bars(String title, String unit, List<Panel> panels) implements Chart {

    private static final double BAR = 18;
    private static final double ROW = 26;
    private static final double HEADING = 30;
    private static final double FOOT = 28;
    private static final double GAP = 8;
    private static final int TICKS = 5;

    /** Beyond this factor between the greatest values of two panels, the bars of one of them would be hard to see on a common scale. */
    private static final double MOST_APART = 3;

    /**
     * A bar.
     *
     * @param name before it
     * @param tone of it
     * @param value before it, and its length
     */
    public record Bar(String name, Tone tone, Value value) {}

    /**
     * Bars that are compared.
     *
     * @param heading what they have in common; empty for none
     * @param bars from top to bottom
     */
    public record Panel(String heading, List<Bar> bars) {

        private double height() {
            return (heading.isEmpty() ? GAP : HEADING) + ROW * bars.size() + FOOT;
        }

        private double greatest() {
            return bars.stream().mapToDouble(it -> it.value().greatest()).max().orElse(1);
        }
    }

    @Override
    public String toSvg() {
        Canvas canvas = new Canvas();
        String scales = hasOneScale() ? "" : " The scales differ.";
        Frame.head(
                canvas,
                title,
                "%s. %s%s"
                        .formatted(
                                unit,
                                Frame.ofRounds(all().stream().map(Bar::value).toList()),
                                scales));
        double top = Frame.TOP;
        for (Panel panel : panels) {
            draw(canvas, panel, top);
            top += panel.height();
        }
        return canvas.toSvg(Frame.WIDTH, top + GAP, title, description());
    }

    private List<Bar> all() {
        return panels.stream().flatMap(it -> it.bars().stream()).toList();
    }

    private String description() {
        List<String> parts = new ArrayList<>();
        for (Panel panel : panels) {
            String bars = panel.bars().stream()
                    .map(it -> it.name() + " " + it.value().told())
                    .collect(Collectors.joining("; "));
            parts.add(panel.heading().isEmpty() ? bars : panel.heading() + ": " + bars);
        }
        return "%s. %s.".formatted(unit, String.join(". ", parts));
    }

    /** Names and values of all panels are as wide as the widest, so that all bars begin below each other. */
    private Scale scale(Panel panel) {
        double values = all().stream()
                .mapToDouble(it -> Font.VALUE.width(it.value().text()))
                .max()
                .orElse(0);
        double most = hasOneScale() ? greatest().getMax() : panel.greatest();
        return Scale.fromZero(most, namesEnd() + 2 * GAP + values, Frame.WIDTH - 2 * (double) Frame.EDGE);
    }

    private boolean hasOneScale() {
        return greatest().getMax() <= MOST_APART * greatest().getMin();
    }

    private DoubleSummaryStatistics greatest() {
        return panels.stream().mapToDouble(Panel::greatest).summaryStatistics();
    }

    private double namesEnd() {
        double widest = all().stream()
                .mapToDouble(it -> Font.LABEL.width(it.name()))
                .max()
                .orElse(0);
        return Frame.EDGE + widest + GAP;
    }

    private void draw(Canvas canvas, Panel panel, double top) {
        Scale scale = scale(panel);
        double first = top + GAP;
        if (!panel.heading().isEmpty()) {
            canvas.text(Font.HEADING, Tone.TEXT, Anchor.START, new Point(Frame.EDGE, top + 19), panel.heading());
            first = top + HEADING;
        }
        double bottom = first + ROW * panel.bars().size();
        for (double tick : scale.ticks(TICKS)) {
            double x = scale.at(tick);
            canvas.line(Tone.GRID, 1, List.of(new Point(x, first), new Point(x, bottom)));
            canvas.text(Font.SMALL, Tone.QUIET, Anchor.MIDDLE, new Point(x, bottom + 15), Scale.text(tick));
        }
        for (int i = 0; i < panel.bars().size(); i++) {
            draw(canvas, panel.bars().get(i), scale, first + ROW * i + (ROW - BAR) / 2);
        }
    }

    private void draw(Canvas canvas, Bar bar, Scale scale, double top) {
        Value value = bar.value();
        double middle = top + BAR / 2;
        double zero = scale.at(0);
        canvas.text(Font.LABEL, Tone.TEXT, Anchor.END, new Point(namesEnd(), middle + 4.5), bar.name());
        canvas.text(Font.VALUE, Tone.TEXT, Anchor.END, new Point(zero - GAP, middle + 4.5), value.text());
        canvas.bar(bar.tone(), new Point(zero, top), Math.max(scale.at(value.median()) - zero, 1), BAR);
        if (value.hasSpread()) {
            canvas.whisker(
                    Tone.TEXT,
                    new Point(scale.at(value.least()), middle),
                    new Point(scale.at(value.greatest()), middle));
        }
    }
}
