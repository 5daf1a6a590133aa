package io.holdfast.proof.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.sim.RunTraces.Traced;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Compares traces of the code with a model: TLC looks for a behaviour of the model with the steps of each trace.
 *
 * @param folder for the files of TLC
 * @param model the model that the module of the traces extends
 * @param module the module of the traces
 * @param constants all constants of both
 */
record TraceCheck(Path folder, String model, String module, Map<String, String> constants) {

    /** One start of TLC reads the traces of so many schedules. */
    private static final int BATCH = 2_500;

    private static final Pattern TOLD = Pattern.compile("<<(\\d+), (\\d+)>>");

    /** Runs schedules, and returns their traces. */
    interface Schedules {
        List<Traced> of(long firstSeed, int schedules);
    }

    /** Checks all traces, and returns how many of them are complete, in percent. */
    long complete(Schedules schedules, int usual) throws IOException, InterruptedException {
        int all = Integer.getInteger("proof.schedules", usual);
        long seed = Long.getLong("proof.seed", 0);
        Map<String, Integer> ends = new TreeMap<>();
        long steps = 0;
        for (int done = 0; done < all; done += BATCH) {
            List<Traced> traces = schedules.of(seed + done, Math.min(BATCH, all - done));
            assertThat(refused(traces)).as("traces that leave the model").isEmpty();
            steps += traces.stream().mapToInt(it -> it.steps().size()).sum();
            traces.forEach(it -> ends.merge(it.ended(), 1, Integer::sum));
        }
        int traces = ends.values().stream().mapToInt(Integer::intValue).sum();
        System.out.printf("%d schedules, %d traces, %d steps; the traces ended with %s%n", all, traces, steps, ends);
        return 100L * ends.getOrDefault("", 0) / traces;
    }

    /** Returns the seed of each trace that is not explained, with the first step that the model cannot take. */
    List<String> refused(List<Traced> traces) throws IOException, InterruptedException {
        int[] explained = explained(traces);
        return IntStream.range(0, traces.size())
                .filter(it -> explained[it] < traces.get(it).steps().size())
                .mapToObj(it -> "seed %d, step %d of %s"
                        .formatted(
                                traces.get(it).seed(),
                                explained[it] + 1,
                                String.join("\n  ", traces.get(it).steps())))
                .limit(5)
                .toList();
    }

    /** Returns how many steps of each trace the model can take. */
    private int[] explained(List<Traced> traces) throws IOException, InterruptedException {
        Path here = Files.createTempDirectory(folder, "traces");
        Files.copy(Path.of("models", model + ".tla"), here.resolve(model + ".tla"));
        Files.writeString(
                here.resolve("Traces.tla"),
                traces.stream()
                        .map(it -> it.steps().stream().collect(Collectors.joining(",", "<<", ">>")))
                        .collect(Collectors.joining(
                                ",\n", "---- MODULE Traces ----\nEXTENDS Integers\nTraces == <<\n", ">>\n====\n")));
        String output = Tlc.explore(here, module, "TraceSpec", constants).output();
        assertThat(output).contains("Model checking completed. No error has been found.");
        int[] explained = new int[traces.size()];
        for (Matcher told = TOLD.matcher(output); told.find(); ) {
            int trace = Integer.parseInt(told.group(1)) - 1;
            explained[trace] = Math.max(explained[trace], Integer.parseInt(told.group(2)));
        }
        return explained;
    }
}
