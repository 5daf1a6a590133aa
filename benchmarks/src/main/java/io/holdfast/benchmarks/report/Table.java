package io.holdfast.benchmarks.report;

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
        Spread ratio = outcome.ratio();
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s | %s / **%s** / %s | %s %s | %s |%n",
                goal.workload(),
                number(outcome.above().median()),
                goal.against(),
                number(outcome.below().median()),
                number(ratio.least()),
                number(ratio.median()),
                number(ratio.greatest()),
                goal.bound().sign(),
                number(goal.limit()),
                outcome.isReached() ? "yes" : "**no**");
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
            text.append(String.format(
                    Locale.ROOT,
                    "| %s | %s | %s | %s | %s | %d |%n",
                    parameters,
                    metric,
                    number(spread.least()),
                    number(spread.median()),
                    number(spread.greatest()),
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
        double size = Math.abs(value);
        if (size >= 100) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        if (size >= 10) {
            return String.format(Locale.ROOT, "%.1f", value);
        }
        return size >= 0.1 || size == 0
                ? String.format(Locale.ROOT, "%.2f", value)
                : String.format(Locale.ROOT, "%.4f", value);
    }
}
