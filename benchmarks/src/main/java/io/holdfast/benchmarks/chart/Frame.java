package io.holdfast.benchmarks.chart;

import io.holdfast.benchmarks.chart.Canvas.Anchor;
import java.util.Collection;

/** What all charts have in common. */
final class Frame {

    static final int WIDTH = 760;
    static final int EDGE = 20;

    /** Below the note. */
    static final double TOP = 66;

    private Frame() {}

    static void head(Canvas canvas, String title, String note) {
        canvas.text(Font.TITLE, Tone.TEXT, Anchor.START, new Point(EDGE, 31), title);
        canvas.text(Font.SMALL, Tone.QUIET, Anchor.START, new Point(EDGE, 52), note);
    }

    /** What the values and the whiskers are. */
    static String ofRounds(Collection<Value> values) {
        int rounds = values.stream().mapToInt(Value::rounds).max().orElse(1);
        return rounds == 1 ? "One round only." : "Median, lowest and highest of %d rounds.".formatted(rounds);
    }
}
