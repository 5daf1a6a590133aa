package io.holdfast.benchmarks.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What one cycle costs the clients and the server, where a run has measured the CPU of both. */
public final class Costs {

    private static final String PEER = "peer";
    private static final List<String> SIZES = List.of("inFlight", "waiters", "processes", "masters");
    private static final List<String> METRICS = List.of(Sample.CLIENT_CPU, Sample.SERVER_CPU, Sample.ALLOCATION);

    private Costs() {}

    /** One row. */
    private record Workload(String benchmark, Map<String, String> parameters) implements Comparable<Workload> {

        private static final Comparator<Workload> ORDER = Comparator.comparing(Workload::benchmark)
                .thenComparing(Workload::sizes)
                .thenComparing(Workload::peer);

        static Workload of(Sample sample) {
            return new Workload(sample.benchmark(), new TreeMap<>(sample.parameters()));
        }

        String peer() {
            return parameters.getOrDefault(PEER, "");
        }

        /** For people. */
        String title() {
            return "%s, %s".formatted(Words.workload(benchmark), Words.of(SIZES, parameters));
        }

        /** So that 64 comes before 1024. */
        private String sizes() {
            Map<String, String> rest = new TreeMap<>(parameters);
            rest.keySet().remove(PEER);
            return rest.values().stream().map("%9s"::formatted).collect(Collectors.joining());
        }

        @Override
        public int compareTo(Workload other) {
            return ORDER.compare(this, other);
        }
    }

    /** With its heading, medians over the rounds. Empty for a run that has measured no CPU. */
    public static String table(Collection<Sample> samples) {
        Map<Workload, Map<String, List<Double>>> rows = new TreeMap<>();
        for (Sample sample : samples) {
            if (METRICS.contains(sample.metric()) || sample.metric().equals(Sample.SWITCHES)) {
                rows.computeIfAbsent(Workload.of(sample), it -> new TreeMap<>())
                        .computeIfAbsent(sample.metric(), it -> new ArrayList<>())
                        .add(sample.value());
            }
        }
        rows.values().removeIf(it -> !it.keySet().containsAll(METRICS));
        if (rows.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder("""

                ## What a cycle costs

                Medians over the rounds, for each cycle: CPU in µs, of all client processes and of the server's process, and bytes that the clients
                allocate. Each peer has processes of its own. They stay for all rounds, and warm up once.

                """);
        // Runs of before did not count context switches.
        boolean hasSwitches = rows.values().stream().allMatch(it -> it.containsKey(Sample.SWITCHES));
        text.append("| | | CPU of the clients | CPU of the server | bytes |%s%n"
                        .formatted(hasSwitches ? " context switches of the clients |" : ""))
                .append("| --- | --- | ---: | ---: | ---: |%s%n".formatted(hasSwitches ? " ---: |" : ""));
        List<String> columns = Stream.concat(
                        METRICS.stream(), hasSwitches ? Stream.of(Sample.SWITCHES) : Stream.empty())
                .toList();
        rows.forEach((workload, values) -> text.append("| %s | %s | %s |%n"
                .formatted(
                        workload.title(),
                        Contender.of(workload.benchmark(), workload.peer()).title(),
                        medians(columns, values))));
        return text.toString();
    }

    private static String medians(List<String> columns, Map<String, List<Double>> values) {
        return columns.stream()
                .map(it -> Spread.of(values.getOrDefault(it, List.of())).orElseThrow())
                .map(it -> Table.number(it.median()))
                .collect(Collectors.joining(" | "));
    }
}
