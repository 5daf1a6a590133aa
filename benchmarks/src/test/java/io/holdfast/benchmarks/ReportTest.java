package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.report.Sample;
import io.holdfast.benchmarks.watch.Observation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {

    @Test
    void measurementsOfAFormerRunAreForgottenAndNothingElse(@TempDir Path folder) throws Exception {
        Path jmh = Files.createFile(Report.jmhFile(folder, 1, 0, "RedisUncontended"));
        Path watch = Files.createFile(Report.watchFile(folder, 2, List.of("HandOff", "HOLDFAST")));
        Path compared = Files.createFile(Report.comparisonFile(
                folder, 1, new Observation("RedisUncontended", Map.of("peer", "HOLDFAST"), Map.of("cycles/s", 1.0))));
        Path notes = Files.createFile(jmh.resolveSibling("notes.txt"));
        Path environment = Files.createFile(folder.resolve(Report.ENVIRONMENT));

        Report.forgetMeasurements(folder);

        assertThat(List.of(jmh, watch, compared)).noneMatch(Files::exists);
        assertThat(List.of(notes, environment)).allMatch(Files::exists);
    }

    @Test
    void goalsOfRedisAreFollowedByTheCostsAndTheLoad(@TempDir Path folder) throws Exception {
        Report.writeEnvironment(folder, Main.REDIS, Map.of(Machine.CORES, "2", Machine.LOAD, "0.3"));
        for (String peer : List.of("HOLDFAST", "LETTUCE")) {
            Observation seen = new Observation(
                    "RedisUncontended",
                    Map.of("peer", peer, "inFlight", "1"),
                    Map.of(
                            Sample.THROUGHPUT, 10.0,
                            Sample.CLIENT_CPU, 20.0,
                            Sample.SERVER_CPU, 30.0,
                            Sample.ALLOCATION, 40.0));
            Files.writeString(Report.comparisonFile(folder, 1, seen), seen.toJson());
        }
        assertThat(Report.goalsOfRedis(folder).lines())
                .containsSubsequence(
                        "| Redis, uncontended, 1 in flight, cycles/s | 10.0 | raw Lettuce | 10.0 | **1.00** | ≥ 0.95 | yes |",
                        "| Redis without contention, one lock at a time | Holdfast | 20.0 | 30.0 | 40.0 |",
                        "| Redis without contention, one lock at a time | raw Lettuce (limit) | 20.0 | 30.0 | 40.0 |",
                        "Load before the run, on 2 cores: 0.3");
    }

    @Test
    void reportInAFolderOfAnyNameHasTheRatiosOfItsRun(@TempDir Path folder) throws Exception {
        Report.writeEnvironment(folder, Main.POSTGRES, Map.of());
        for (String peer : List.of("HOLDFAST", "RAW")) {
            Observation seen = new Observation(
                    "PostgresUncontended", Map.of("peer", peer, "inFlight", "1"), Map.of(Sample.THROUGHPUT, 10.0));
            Files.writeString(Report.comparisonFile(folder, 1, seen), seen.toJson());
        }
        assertThat(Report.text(folder).lines()).anyMatch(line -> line.contains("| **1.00** |"));
    }
}
