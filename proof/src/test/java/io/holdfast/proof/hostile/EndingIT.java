package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.server.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the command in a process of its own. */
class EndingIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    @TempDir
    private Path folder;

    private Process campaign() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("java.class.path");
        // The servers of the build: a server of the PATH may be a script that starts another process.
        return new ProcessBuilder(List.of(
                        java,
                        "-Xmx128m",
                        "-XX:TieredStopAtLevel=1",
                        "-D" + RedisServer.SWITCH + "=embedded",
                        "-cp",
                        classPath,
                        Hostile.class.getName(),
                        "redis",
                        "--minutes",
                        "5",
                        "--seed",
                        "1",
                        "--clients",
                        "1",
                        "--folder",
                        folder.toString()))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("said.txt").toFile())
                .start();
    }

    @Test
    void aTerminatedCampaignEndsAllItsProcesses() throws Exception {
        allProcessesEndAfter(Process::destroy);
    }

    /** A killed campaign can run no code: each of its processes has a guard. */
    @Test
    void theProcessesOfAKilledCampaignEnd() throws Exception {
        allProcessesEndAfter(Process::destroyForcibly);
    }

    private void allProcessesEndAfter(Consumer<Process> end) throws Exception {
        Process campaign = campaign();
        try {
            Await.until("clients are at work", PATIENCE, POLL_INTERVAL, () -> !campaign.isAlive() || hasHistory());
            List<ProcessHandle> started = campaign.descendants().toList();
            assertThat(started).hasSizeGreaterThan(2);

            end.accept(campaign);

            assertThat(campaign.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            Await.until(
                    "nothing of it runs",
                    PATIENCE,
                    POLL_INTERVAL,
                    () -> started.stream().noneMatch(ProcessHandle::isAlive));
        } finally {
            campaign.destroyForcibly();
        }
    }

    private boolean hasHistory() {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.anyMatch(file -> file.getFileName().toString().startsWith("history-")
                    && file.toFile().length() > 0);
        } catch (IOException | UncheckedIOException beingWritten) {
            return false;
        }
    }
}
