package io.holdfast.proof.soak;

import io.holdfast.proof.soak.Judgement.Verdict;
import java.time.Duration;
import java.util.List;

/** The report of a soak, as Markdown, which a terminal can show, too. */
final class SoakReport {

    private final SoakRun.Order order;
    private final List<Sample> samples;
    private final List<Judgement> judgements;

    SoakReport(SoakRun.Order order, List<Sample> samples) {
        this.order = order;
        this.samples = samples;
        judgements = Judgement.all(order.target(), samples);
    }

    Verdict verdict() {
        return Judgement.worst(judgements);
    }

    String toMarkdown() {
        StringBuilder text =
                new StringBuilder("# Soak: %s%n%n".formatted(order.target().word()));
        Duration time = Duration.ofSeconds((long) last());
        text.append("It ran for %d h %d min %d s, with %d samples. %s%n%n"
                .formatted(time.toHours(), time.toMinutesPart(), time.toSecondsPart(), samples.size(), summary()));
        text.append("**%s**%n%n".formatted(sentence()));
        text.append(
                "| curve | level | growth in 8 hours | at most | may be | |%n| --- | --- | --- | --- | --- | --- |%n"
                        .formatted());
        judgements.forEach(judgement -> text.append(row(judgement)));
        text.append(
                "%nThe level and the growth are those of the second half. The growth is within the bounds with a probability of 99.9 %%.%n%n"
                        .formatted());
        text.append("![the curves](curves.svg)%n".formatted());
        return text.toString();
    }

    private double last() {
        return samples.isEmpty() ? 0 : samples.get(samples.size() - 1).of(Column.SECONDS);
    }

    private String summary() {
        double before = 0;
        double cycles = 0;
        for (Sample sample : samples) {
            cycles += sample.of(Column.CYCLES) * (sample.of(Column.SECONDS) - before);
            before = sample.of(Column.SECONDS);
        }
        String flaw = order.flaw() == Flaw.NONE
                ? ""
                : " It leaked on purpose: %s.".formatted(order.flaw().word());
        return "%.0f cycles of %d/s, %.0f errors, %.0f leases lost.%s"
                .formatted(cycles, order.rate(), sum(Column.ERRORS), sum(Column.LOST), flaw);
    }

    private double sum(Column column) {
        return samples.stream().mapToDouble(sample -> sample.of(column)).sum();
    }

    private String sentence() {
        return switch (verdict()) {
            case BOUNDED -> "All is bounded.";
            case GROWING -> "Something grows.";
            case OPEN -> "No curve grows for certain, but the soak was too short to tell for some curves.";
        };
    }

    private static String row(Judgement judgement) {
        Column column = judgement.column();
        String figures = judgement
                .trend()
                .map(trend -> "%s | %s | %s | %s"
                        .formatted(
                                column.text(trend.level()),
                                column.text(Judgement.inHorizon(trend.slope())),
                                column.text(Judgement.inHorizon(trend.most())),
                                column.text(Judgement.limit(column, trend))))
                .orElse("| | | ");
        return "| %s | %s | %s |%n".formatted(column.title(), figures, judgement.verdict());
    }
}
