package io.holdfast.benchmarks.report;

import io.holdfast.benchmarks.crowd.CrowdedLock;
import io.holdfast.benchmarks.crowd.Trouble;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The section of a report about one lock that many want, with each trouble beside the same load without it. */
public final class Crowds {

    private static final String BENCHMARK = "CrowdedLock";
    private static final List<String> COLUMNS =
            List.of(Sample.SERVER_CPU, Sample.CLIENT_CPU, CrowdedLock.P50, CrowdedLock.P99, CrowdedLock.WORST_P99);
    private static final List<String> BESIDE = List.of(CrowdedLock.GIVEN_UP, CrowdedLock.REFUSED);

    private Crowds() {}

    /** Returns the section with its heading; empty if the run has measured no crowd. */
    public static String section(Collection<Sample> samples) {
        Map<String, Map<String, Double>> byKind = new TreeMap<>();
        for (Sample sample : samples) {
            if (sample.benchmark().equals(BENCHMARK)) {
                String kind = sample.parameters().getOrDefault("kind", "").toLowerCase(Locale.ROOT);
                byKind.computeIfAbsent(kind, it -> new TreeMap<>()).put(sample.metric(), sample.value());
            }
        }
        if (byKind.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder("""

                ## One lock that many want

                Medians of the rounds. All rows of one kind of lock were measured in turns in one process, whose clients have a connection each.
                The ratio is to the first row of that kind, in cycles/s. Waits are in ms, from the begin of a cycle to its grant.

                | | trouble | cycles/s | ratio | server CPU µs | client CPU µs | p50 | p99 | p99 of the client that waits longest | beside |
                | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
                """);
        byKind.forEach((kind, values) -> {
            for (Trouble trouble : Trouble.values()) {
                text.append(row(kind, trouble, values));
            }
        });
        byKind.forEach((kind, values) ->
                text.append("%n%s: a claim behind the waiters of a process that hangs was served after %s ms.%n"
                        .formatted(kind, Table.number(values.getOrDefault(CrowdedLock.BEHIND_HUNG, 0.0)))));
        return text.toString();
    }

    private static String row(String kind, Trouble trouble, Map<String, Double> values) {
        double usual = values.getOrDefault(CrowdedLock.metric(Trouble.NONE, Sample.THROUGHPUT), 0.0);
        double cycles = values.getOrDefault(CrowdedLock.metric(trouble, Sample.THROUGHPUT), 0.0);
        return "| %s | %s | %s | %s | %s | %s |%n"
                .formatted(
                        kind,
                        trouble.title(),
                        Table.number(cycles),
                        Table.number(cycles / usual),
                        COLUMNS.stream()
                                .map(it -> values.getOrDefault(CrowdedLock.metric(trouble, it), 0.0))
                                .map(Table::number)
                                .collect(Collectors.joining(" | ")),
                        BESIDE.stream()
                                .filter(it -> values.containsKey(CrowdedLock.metric(trouble, it)))
                                .map(it -> "%s %s"
                                        .formatted(
                                                Table.number(values.getOrDefault(CrowdedLock.metric(trouble, it), 0.0)),
                                                it))
                                .collect(Collectors.joining(", ")));
    }
}
