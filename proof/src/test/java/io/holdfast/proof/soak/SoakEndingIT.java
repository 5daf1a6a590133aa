package io.holdfast.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.hostile.Await;
import io.holdfast.testkit.server.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the command in a process of its own. */
class SoakEndingIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    @TempDir
    private Path folder;

    /** A killed soak can run no code: each of its processes has a guard. */
    @Test
    void theProcessesOfAKilledSoakEnd() throws Exception {
        Process soak = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:TieredStopAtLevel=1",
                        "-D" + RedisServer.SWITCH + "=embedded",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Soak.class.getName(),
                        "redis",
                        "--minutes",
                        "5",
                        "--folder",
                        folder.toString()))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("said.txt").toFile())
                .start();
        try {
            Path samples = folder.resolve("redis").resolve("samples.csv");
            Await.until("samples come", PATIENCE, POLL_INTERVAL, () -> !soak.isAlive() || Files.exists(samples));
            List<ProcessHandle> started = soak.descendants().toList();
            assertThat(started).hasSizeGreaterThan(1);

            soak.destroyForcibly();

            assertThat(soak.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            Await.until(
                    "nothing of it runs",
                    PATIENCE,
                    POLL_INTERVAL,
                    () -> started.stream().noneMatch(ProcessHandle::isAlive));
        } finally {
            soak.destroyForcibly();
        }
    }
}
