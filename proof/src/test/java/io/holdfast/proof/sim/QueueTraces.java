package io.holdfast.proof.sim;

import io.holdfast.proof.sim.RunTraces.Traced;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Traces of schedules on Redis, and the constants of the model that they need. */
public final class QueueTraces {

    private QueueTraces() {}

    /** Runs schedules of the product, and leaves out those without a mutex. */
    public static List<Traced> of(long firstSeed, int schedules) {
        return of(firstSeed, schedules, Mutant.NONE);
    }

    /** Runs schedules of one of the mutants of Redis. */
    public static List<Traced> ofMutant(String name, long firstSeed, int schedules) {
        return of(firstSeed, schedules, Mutants.onRedis(name));
    }

    private static List<Traced> of(long firstSeed, int schedules, Mutant mutant) {
        List<Traced> all = new ArrayList<>();
        for (long seed = firstSeed; seed < firstSeed + schedules; seed++) {
            QueueTrace trace = Schedule.queueTrace(seed, mutant);
            List<String> steps = trace.steps();
            if (!steps.isEmpty()) {
                all.add(new Traced(seed, steps, trace.ended()));
            }
        }
        return all;
    }

    /** The clients and claims of the model, which are the same for all traces. */
    public static Map<String, String> constants() {
        List<String> claims = IntStream.rangeClosed(1, QueueTrace.CLAIMS)
                .mapToObj(it -> "c" + it)
                .toList();
        return Map.of(
                "OfA",
                set(claims.stream()),
                "OfB",
                "{}",
                "Channels",
                set(Stream.concat(QueueTrace.CHANNELS.stream(), claims.stream().map(it -> "-" + it))));
    }

    private static String set(Stream<String> texts) {
        return texts.map(it -> '"' + it + '"').collect(Collectors.joining(", ", "{", "}"));
    }
}
