package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Processes that have just been started, on a busy machine. */
class FreshProcessIT {

    /**
     * Two processors start them, beside other tests. Each loads classes for longer than a master may usually take. With more of them at once, that takes longer than any time limit
     * of the library.
     */
    private static final int AT_ONCE = 2;

    @RegisterExtension
    final FiveServers five = new FiveServers();

    @Test
    void theFirstAttemptOfAProcessDoesNotFailAtHealthyMastersBecauseItHasToConnect() throws Exception {
        List<Process> processes = Stream.generate(this::started).limit(AT_ONCE).toList();
        for (Process process : processes) {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(said).isTrue();
            assertThat(process.exitValue()).as(said).isZero();
        }
    }

    private Process started() {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), FirstAttempt.class.getName()));
        IntStream.rangeClosed(1, 5).forEach(it -> command.add(five.server(it).uri()));
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
