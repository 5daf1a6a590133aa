package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

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
}
