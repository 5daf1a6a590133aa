package io.holdfast.proof.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.model.Tlc.Exploration;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The models of the protocols in {@code proof/models}: all their states within bounds, and their mutants. The table of explorations is in
 * {@code explorations.csv}. {@code -Dproof.model=large} adds larger bounds, which take minutes.
 */
@Execution(ExecutionMode.CONCURRENT)
class ModelsIT {

    @TempDir
    Path folder;

    static Stream<Exploration> explorations() throws IOException {
        return Tlc.explorations("large".equals(System.getProperty("proof.model"))).stream()
                .filter(it -> it.brokenPromise().isEmpty());
    }

    static Stream<Exploration> mutants() throws IOException {
        return Tlc.explorations(false).stream().filter(it -> !it.brokenPromise().isEmpty());
    }

    @ParameterizedTest
    @MethodSource("explorations")
    void noStateBreaksAPromise(Exploration exploration) throws IOException, InterruptedException {
        Tlc.Result result = Tlc.explore(folder, exploration);
        assertThat(result.broken()).as(result.output()).isEqualTo("nothing");
        assertThat(result.states())
                .isGreaterThan(500)
                .satisfies(states -> assertThat(exploration.states()).isIn(0L, states));
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void mutantBreaksItsPromise(Exploration mutant) throws IOException, InterruptedException {
        Tlc.Result result = Tlc.explore(folder, mutant);
        assertThat(result.broken())
                .as(result.output())
                .isIn(
                        "Invariant " + mutant.brokenPromise() + " is violated",
                        "Temporal properties were violated"); // only that promise was checked
    }
}
