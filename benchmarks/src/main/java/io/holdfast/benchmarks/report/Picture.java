package io.holdfast.benchmarks.report;

import io.holdfast.benchmarks.chart.Bars;
import io.holdfast.benchmarks.chart.Chart;
import io.holdfast.benchmarks.chart.Lines;
import io.holdfast.benchmarks.chart.Value;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A chart of one run: medians of one metric, for each way to lock.
 *
 * @param file its name, without an extension
 * @param title what it is about
 * @param unit of the values, and which of them are better
 * @param sources of the values
 * @param parts the parameters that tell the parts of a chart of bars apart; the last one is the size of a chart of lines
 * @param form of the chart
 */
public record Picture(String file, String title, String unit, List<Source> sources, List<String> parts, Form form) {

    static final String PEER = "peer";
    private static final String MASTERS = "masters";

    /** Fewer sizes are no growth. */
    private static final int LEAST_SIZES = 3;

    /** What it looks like. */
    public enum Form {
        /** Bars, a part for each combination of the parameters. */
        BARS,
        /** A line for each way to lock. */
        LINES,
        /** The same, over sizes that begin at zero: what grows with them is a straight line. */
        PROPORTIONS,
        /** Lines if there are enough sizes, and else bars. */
        LINES_OR_BARS
    }

    /**
     * Values for a picture.
     *
     * @param of which samples
     * @param told parameters that the samples get, in addition to their own
     */
    public record Source(Selector of, Map<String, String> told) {

        /** With a copy of the parameters. */
        public Source {
            told = Map.copyOf(told);
        }

        private List<Sample> in(Collection<Sample> samples) {
            return samples.stream()
                    .filter(of::selects)
                    .map(it -> {
                        Map<String, String> parameters = new TreeMap<>(it.parameters());
                        parameters.putAll(told);
                        return new Sample(it.benchmark(), parameters, it.metric(), it.value(), it.round());
                    })
                    .toList();
        }
    }

    /** A bar or a line: a way to lock, with what is wrong with its masters. */
    private record Series(Contender contender, String health) implements Comparable<Series> {

        private static final Comparator<Series> ORDER =
                Comparator.comparing(Series::contender).thenComparing(Series::health);

        static Series of(Sample sample) {
            String peer = sample.parameters().getOrDefault(PEER, Contender.HOLDFAST.name());
            return new Series(
                    Contender.of(sample.benchmark(), peer),
                    Words.health(sample.parameters().getOrDefault(MASTERS, "HEALTHY")));
        }

        String name() {
            return health.isEmpty() ? contender.title() : contender.title() + ", " + health;
        }

        @Override
        public int compareTo(Series other) {
            return ORDER.compare(this, other);
        }
    }

    /** A part of a chart of bars. */
    private record Part(List<Long> sizes, String heading) implements Comparable<Part> {

        static Part of(List<String> names, Sample sample) {
            Map<String, String> parameters = sample.parameters();
            List<Long> sizes = names.stream()
                    .map(it -> size(parameters.getOrDefault(it, "")))
                    .toList();
            return new Part(sizes, capital(Words.of(names, parameters)));
        }

        @Override
        public int compareTo(Part other) {
            for (int i = 0; i < sizes.size(); i++) {
                int order = sizes.get(i).compareTo(other.sizes.get(i));
                if (order != 0) {
                    return order;
                }
            }
            return heading.compareTo(other.heading);
        }

        private static String capital(String text) {
            return text.isEmpty() ? text : text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
        }
    }

    private static long size(String value) {
        return value.matches("\\d+") ? Long.parseLong(value) : 0;
    }

    /** Empty when the samples have nothing to compare. */
    public Optional<Chart> draw(Collection<Sample> samples) {
        List<Sample> mine =
                sources.stream().flatMap(it -> it.in(samples).stream()).toList();
        if (form == Form.BARS) {
            return bars(mine);
        }
        Optional<Chart> lines = lines(mine);
        return form == Form.LINES_OR_BARS && lines.isEmpty() ? bars(mine) : lines;
    }

    private Optional<Chart> bars(List<Sample> mine) {
        Map<Part, SortedMap<Series, List<Double>>> values = new TreeMap<>();
        for (Sample sample : mine) {
            values.computeIfAbsent(Part.of(parts, sample), it -> new TreeMap<>())
                    .computeIfAbsent(Series.of(sample), it -> new ArrayList<>())
                    .add(sample.value());
        }
        List<Bars.Panel> panels = new ArrayList<>();
        values.forEach((part, series) -> {
            List<Bars.Bar> bars = new ArrayList<>();
            series.forEach((each, numbers) ->
                    bars.add(new Bars.Bar(each.name(), each.contender().tone(), value(numbers))));
            if (bars.size() > 1) {
                panels.add(new Bars.Panel(part.heading(), bars));
            }
        });
        return panels.isEmpty() ? Optional.empty() : Optional.of(new Bars(title, unit, panels));
    }

    private Optional<Chart> lines(List<Sample> mine) {
        String size = parts.get(parts.size() - 1);
        Map<Series, SortedMap<Double, List<Double>>> values = new TreeMap<>();
        for (Sample sample : mine) {
            values.computeIfAbsent(Series.of(sample), it -> new TreeMap<>())
                    .computeIfAbsent((double) size(sample.parameters().getOrDefault(size, "")), it -> new ArrayList<>())
                    .add(sample.value());
        }
        long sizes = values.values().stream()
                .flatMap(it -> it.keySet().stream())
                .distinct()
                .count();
        if (sizes < LEAST_SIZES) {
            return Optional.empty();
        }
        List<Lines.Line> lines = new ArrayList<>();
        values.forEach((series, bySize) -> {
            SortedMap<Double, Value> points = new TreeMap<>();
            bySize.forEach((each, numbers) -> points.put(each, value(numbers)));
            lines.add(new Lines.Line(series.name(), series.contender().tone(), points));
        });
        return Optional.of(new Lines(title, unit, size, form != Form.PROPORTIONS, lines));
    }

    private static Value value(List<Double> numbers) {
        return value(Spread.of(numbers).orElseThrow());
    }

    static Value value(Spread spread) {
        return new Value(spread.least(), spread.median(), spread.greatest(), spread.count());
    }
}
