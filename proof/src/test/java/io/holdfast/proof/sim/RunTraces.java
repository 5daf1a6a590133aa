package io.holdfast.proof.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Traces of schedules in memory, and the constants of the model that they need. */
public final class RunTraces {

    private RunTraces() {}

    /**
     * The trace of one schedule.
     *
     * @param steps in TLA+
     * @param ended what the model leaves out, and so ended the trace; empty if it is complete
     */
    public record Traced(long seed, List<String> steps, String ended) {}

    /** Runs schedules of the product, and leaves out those without a mutex. */
    public static List<Traced> of(long firstSeed, int schedules) {
        return of(firstSeed, schedules, Mutant.NONE);
    }

    /** Runs schedules of one of the mutants in memory. */
    public static List<Traced> ofMutant(String name, long firstSeed, int schedules) {
        return of(firstSeed, schedules, Mutants.inMemory(name));
    }

    private static List<Traced> of(long firstSeed, int schedules, Mutant mutant) {
        List<Traced> all = new ArrayList<>();
        for (long seed = firstSeed; seed < firstSeed + schedules; seed++) {
            RunTrace trace = Schedule.trace(seed, mutant);
            List<String> steps = trace.steps();
            if (!steps.isEmpty()) {
                all.add(new Traced(seed, steps, trace.ended()));
            }
        }
        return all;
    }

    /** The clients and claims of the model, which are the same for all traces. */
    public static Map<String, String> constants() {
        List<String> clients =
                RunTrace.CLIENTS.stream().map(it -> '"' + it + '"').toList();
        List<String> owners = IntStream.range(0, RunTrace.ALL_CLAIMS)
                .mapToObj(it -> clients.get(it % clients.size()))
                .toList();
        return Map.of(
                "Clients", "{" + String.join(", ", clients) + "}",
                "Claims", "1.." + RunTrace.ALL_CLAIMS,
                "Owner", "<<" + String.join(", ", owners) + ">>",
                "Alone", RunTrace.FIRST_ALONE + ".." + RunTrace.ALL_CLAIMS);
    }
}
