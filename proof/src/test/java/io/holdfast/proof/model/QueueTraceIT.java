package io.holdfast.proof.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.sim.QueueTraces;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The scripts follow the model of the queue: each step of a schedule on Redis is a step of {@code Queue.tla}. {@code -Dproof.schedules=100000} checks
 * more, {@code -Dproof.seed=N} begins with that seed.
 */
class QueueTraceIT {

    @TempDir
    Path folder;

    @Test
    void eachStepOfTheScriptsIsAStepOfTheModel() throws IOException, InterruptedException {
        assertThat(check().complete(QueueTraces::of, 150)).isGreaterThan(33);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "release without an owner check",
                "passing waiters in the queue",
                "waiter without the flag",
                "hand-off without the flags",
                "validity counted from the reply"
            })
    void aMutantLeavesTheModel(String mutant) throws IOException, InterruptedException {
        assertThat(check().refused(QueueTraces.ofMutant(mutant, 10_000, 60))).isNotEmpty();
    }

    private TraceCheck check() {
        Map<String, String> all = new LinkedHashMap<>(QueueTraces.constants());
        all.put("Of", "TraceOf");
        for (String none : new String[] {"MaxLosses", "MaxCrashes", "MaxCuts", "MaxLeaving", "MaxEnds"}) {
            all.put(none, "0");
        }
        all.put("Limit", "1000");
        all.put("Mutant", "\"none\"");
        return new TraceCheck(folder, "Queue", "TraceQueue", all);
    }
}
