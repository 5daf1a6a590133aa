package io.holdfast.benchmarks.report;

import io.holdfast.benchmarks.chart.Value;
import io.holdfast.benchmarks.report.Goal.Outcome;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The report in Markdown. */
public final class Table {

    private Table() {}

    /** The goals that the run can judge, with the ratios. */
    public static String ofGoals(List<Goal> goals, Collection<Sample> samples) {
        StringBuilder text = new StringBuilder("""
                | workload | Holdfast | to | it has | ratio: min / median / max | goal | reached |
                | --- | ---: | --- | ---: | ---: | ---: | --- |
                """);
        for (Goal goal : goals) {
            Optional<Outcome> outcome = goal.judge(samples);
            if (outcome.isPresent()) {
                text.append(row(outcome.get()));
            }
        }
        return text.toString();
    }

    private static String row(Outcome outcome) {
        Goal goal = outcome.goal();
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s | %s | %s %s | %s |%n",
                goal.workload(),
                number(outcome.above().median()),
                goal.against(),
                number(outcome.below().median()),
                ratio(outcome.ratio(), goal.limit()),
                goal.bound().sign(),
                number(goal.limit()),
                outcome.isReached() ? "yes" : "**no**");
    }

    /** One round has no spread, so it is not shown as if it had one. */
    private static String ratio(Spread ratio, double limit) {
        String median = "**%s**".formatted(besides(limit, ratio.median()));
        return ratio.count() == 1
                ? median
                : "%s / %s / %s".formatted(number(ratio.least()), median, number(ratio.greatest()));
    }

    /** With a figure more where it would look like the limit that it misses by a hair, or meets. */
    private static String besides(double limit, double value) {
        return value != limit && number(value).equals(number(limit))
                ? String.format(Locale.ROOT, "%.3f", value)
                : number(value);
    }

    /** Everything that was measured, one table for each benchmark. */
    public static String ofAll(Collection<Sample> samples) {
        Map<String, List<Sample>> byBenchmark =
                samples.stream().collect(Collectors.groupingBy(Sample::benchmark, TreeMap::new, Collectors.toList()));
        StringBuilder text = new StringBuilder();
        byBenchmark.forEach((benchmark, all) -> text.append(
                        String.format(Locale.ROOT, "%n### %s%n%n| | | min | median | max | n |%n", benchmark))
                .append("| --- | --- | ---: | ---: | ---: | ---: |%n".formatted())
                .append(rows(all)));
        return text.toString();
    }

    private static String rows(List<Sample> ofOneBenchmark) {
        Map<String, Map<String, List<Double>>> values = new TreeMap<>();
        for (Sample sample : ofOneBenchmark) {
            values.computeIfAbsent(parameters(sample), it -> new TreeMap<>())
                    .computeIfAbsent(sample.metric(), it -> new ArrayList<>())
                    .add(sample.value());
        }
        StringBuilder text = new StringBuilder();
        values.forEach((parameters, metrics) -> metrics.forEach((metric, numbers) -> {
            Spread spread = Spread.of(numbers).orElseThrow();
            boolean isAlone = spread.count() == 1;
            text.append(String.format(
                    Locale.ROOT,
                    "| %s | %s | %s | %s | %s | %d |%n",
                    parameters,
                    metric,
                    isAlone ? "" : number(spread.least()),
                    number(spread.median()),
                    isAlone ? "" : number(spread.greatest()),
                    spread.count()));
        }));
        return text.toString();
    }

    private static String parameters(Sample sample) {
        return new TreeMap<>(sample.parameters())
                .entrySet().stream()
                        .map(it -> it.getKey() + " " + it.getValue())
                        .collect(Collectors.joining(", "));
    }

    /** Three figures that count, and all those before the point. */
    static String number(double value) {
        return Value.number(value);
    }
}
