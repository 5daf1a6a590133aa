package io.holdfast.proof.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.sim.RunTraces;
import io.holdfast.proof.sim.RunTraces.Traced;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The code follows the model of the run: each step of a schedule in memory is a step of {@code Run.tla}. {@code -Dproof.schedules=100000} checks more,
 * {@code -Dproof.seed=N} begins with that seed.
 */
class RunTraceIT {

    /** One start of TLC reads the traces of so many schedules. */
    private static final int BATCH = 2_500;

    private static final Pattern TOLD = Pattern.compile("<<(\\d+), (\\d+)>>");

    @TempDir
    Path folder;

    @Test
    void eachStepOfTheCodeIsAStepOfTheModel() throws IOException, InterruptedException {
        int schedules = Integer.getInteger("proof.schedules", 2_000);
        long seed = Long.getLong("proof.seed", 0);
        Map<String, Integer> ends = new TreeMap<>();
        long steps = 0;
        for (int done = 0; done < schedules; done += BATCH) {
            List<Traced> traces = RunTraces.of(seed + done, Math.min(BATCH, schedules - done));
            assertThat(refused(traces)).as("traces that leave the model").isEmpty();
            steps += traces.stream().mapToInt(it -> it.steps().size()).sum();
            traces.forEach(it -> ends.merge(it.ended(), 1, Integer::sum));
        }
        int traces = ends.values().stream().mapToInt(Integer::intValue).sum();
        System.out.printf(
                "%d schedules, %d traces, %d steps; the traces ended with %s%n", schedules, traces, steps, ends);
        assertThat(ends.getOrDefault("", 0)).as("complete traces").isGreaterThan(traces / 3);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run that ends before its last member",
                "member of a run that is forgotten",
                "release with the first of many elements",
                "nested work that outlives the outermost"
            })
    void aMutantLeavesTheModel(String mutant) throws IOException, InterruptedException {
        assertThat(refused(RunTraces.ofMutant(mutant, 10_000, 150))).isNotEmpty();
    }

    /** Returns the seed of each trace that is not explained, with the first step that the model cannot take. */
    private List<String> refused(List<Traced> traces) throws IOException, InterruptedException {
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
        Files.copy(Path.of("models", "Run.tla"), here.resolve("Run.tla"));
        Files.writeString(
                here.resolve("Traces.tla"),
                traces.stream()
                        .map(it -> it.steps().stream().collect(Collectors.joining(",", "<<", ">>")))
                        .collect(Collectors.joining(
                                ",\n", "---- MODULE Traces ----\nEXTENDS Integers\nTraces == <<\n", ">>\n====\n")));
        String output = Tlc.explore(here, "TraceRun", "TraceSpec", constants()).output();
        assertThat(output).contains("Model checking completed. No error has been found.");
        int[] explained = new int[traces.size()];
        for (Matcher told = TOLD.matcher(output); told.find(); ) {
            int trace = Integer.parseInt(told.group(1)) - 1;
            explained[trace] = Math.max(explained[trace], Integer.parseInt(told.group(2)));
        }
        return explained;
    }

    private static Map<String, String> constants() {
        Map<String, String> all = new LinkedHashMap<>(RunTraces.constants());
        all.put("MayLeave", "Claims");
        all.put("MaxMembers", "64");
        all.put("MaxDeadlines", "1000");
        all.put("MaxBreaks", "0");
        all.put("MaxFlushes", "0");
        all.put("MaxLasts", "0");
        all.put("MaxTicks", "0");
        all.put("MaxLosses", "0");
        all.put("MaxGrants", "1000");
        all.put("IsPatient", "FALSE");
        all.put("Mutant", "\"none\"");
        return all;
    }
}
