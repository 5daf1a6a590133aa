package io.holdfast.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs a short soak, from the first sample to the report. It has too few samples to show growth. */
class SoakIT {

    @TempDir
    private Path folder;

    @Test
    void aShortSoakSamplesAndReports() throws Exception {
        SoakRun.Order order = new SoakRun.Order(Target.REDIS, Duration.ofSeconds(24), 100, Flaw.NONE, folder);

        List<Sample> samples = new SoakRun(order).run();
        SoakReport report = Soak.write(order, samples);

        assertThat(samples).hasSize(8);
        assertThat(Files.readAllLines(order.samples())).hasSize(9);
        Sample last = samples.get(7);
        assertThat(last.of(Column.HEAP)).isGreaterThan(1e6);
        assertThat(last.of(Column.THREADS)).isGreaterThan(5);
        assertThat(last.of(Column.CLIENT_FILES)).isGreaterThan(5);
        assertThat(last.of(Column.SERVER_FILES)).isGreaterThan(1);
        assertThat(last.of(Column.SERVER_MEMORY)).isGreaterThan(1e5);
        assertThat(last.of(Column.STORE_BYTES)).isGreaterThan(1e5);
        assertThat(last.of(Column.KEYS)).isGreaterThan(1);
        assertThat(last.of(Column.CONNECTIONS)).isGreaterThan(1);
        assertThat(samples.stream()
                        .mapToDouble(sample -> sample.of(Column.CYCLES))
                        .sum())
                .isGreaterThan(5);
        assertThat(samples.stream()
                        .mapToDouble(sample -> sample.of(Column.CLIENT_CPU))
                        .sum())
                .isGreaterThan(0);
        assertThat(report.toMarkdown()).contains("too short to tell");
        assertThat(folder.resolve("curves.svg")).isNotEmptyFile();
        assertThat(Files.readString(folder.resolve("complaints.txt"))).isEmpty();
    }
}
