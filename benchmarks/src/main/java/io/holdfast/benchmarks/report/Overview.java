package io.holdfast.benchmarks.report;

import io.holdfast.benchmarks.chart.Chart;
import io.holdfast.benchmarks.chart.Ratios;
import io.holdfast.benchmarks.report.Goal.Bound;
import io.holdfast.benchmarks.report.Goal.Outcome;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One picture of the ratios of Holdfast to other ways to lock, from several runs. */
public final class Overview {

    private static final String HAND_OFF = "HandOff";
    private static final List<String> WORKLOAD = List.of("inFlight", "waiters", "processes");
    private static final Map<String, String> COSTS =
            Map.of(Sample.SERVER_CPU, "CPU of the server", Sample.ALLOCATION, "heap of a cycle", "p50 µs", "hand-off");

    private Overview() {}

    /**
     * What one run adds.
     *
     * @param goals which ratios
     * @param samples of the run
     */
    public record Run(List<Goal> goals, Collection<Sample> samples) {}

    /** Leaves out the ratios of Holdfast to itself, and values that stand alone. */
    public static Chart of(List<Run> runs) {
        Map<String, List<Ratios.Row>> speeds = new LinkedHashMap<>();
        List<Ratios.Row> costs = new ArrayList<>();
        for (Run run : runs) {
            for (Goal goal : run.goals()) {
                Optional<Contender> peer = peer(goal);
                Optional<Outcome> outcome = goal.judge(run.samples());
                if (peer.isEmpty() || outcome.isEmpty()) {
                    continue;
                }
                String store = Words.store(goal.above().benchmark());
                boolean isSpeed = goal.bound() == Bound.AT_LEAST;
                Ratios.Row row = new Ratios.Row(
                        isSpeed ? Words.of(WORKLOAD, goal.above().parameters()) : store + ", " + cost(goal),
                        peer.get().title(),
                        Picture.value(outcome.get().ratio()));
                (isSpeed ? speeds.computeIfAbsent(store, it -> new ArrayList<>()) : costs).add(row);
            }
        }
        List<Ratios.Part> parts = new ArrayList<>();
        speeds.forEach((store, rows) -> parts.add(new Ratios.Part(store, true, "slower", "faster", together(rows))));
        if (!costs.isEmpty()) {
            parts.add(new Ratios.Part("Costs and delays", false, "less", "more", costs));
        }
        return new Ratios(
                "Holdfast compared with other locks",
                "Cycles per second, divided by those of the other lock. Mark: median of the rounds. Whisker: lowest to highest.",
                parts);
    }

    private static Optional<Contender> peer(Goal goal) {
        Selector below = goal.below();
        if (below == null) {
            return Optional.empty();
        }
        if (below.benchmark().equals(HAND_OFF)) {
            return Optional.of(Contender.ROUND_TRIP);
        }
        Contender peer = Contender.of(below.benchmark(), below.parameters().getOrDefault(Picture.PEER, ""));
        return peer == Contender.HOLDFAST ? Optional.empty() : Optional.of(peer);
    }

    private static String cost(Goal goal) {
        String words = COSTS.get(goal.above().metric());
        if (words == null) {
            throw new IllegalArgumentException(
                    "add words for users: '%s' has none".formatted(goal.above().metric()));
        }
        return words;
    }

    /** Rows of one workload follow each other. */
    private static List<Ratios.Row> together(List<Ratios.Row> rows) {
        Map<String, List<Ratios.Row>> byWorkload = new LinkedHashMap<>();
        rows.forEach(it -> byWorkload
                .computeIfAbsent(it.workload(), workload -> new ArrayList<>())
                .add(it));
        return byWorkload.values().stream().flatMap(List::stream).toList();
    }
}
