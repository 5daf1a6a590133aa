package io.holdfast.proof.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.sim.RunTraces;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The code follows the model of the run: each step of a schedule in memory is a step of {@code Run.tla}. {@code -Dproof.schedules=100000} checks more,
 * {@code -Dproof.seed=N} begins with that seed.
 */
class RunTraceIT {

    @TempDir
    Path folder;

    @Test
    void eachStepOfTheCodeIsAStepOfTheModel() throws IOException, InterruptedException {
        assertThat(check().complete(RunTraces::of, 600)).isGreaterThan(33);
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
        assertThat(check().refused(RunTraces.ofMutant(mutant, 10_000, 150))).isNotEmpty();
    }

    private TraceCheck check() {
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
        return new TraceCheck(folder, "Run", "TraceRun", all);
    }
}
