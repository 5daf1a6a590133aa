package io.holdfast.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A demo that is stopped half way ends its shops and servers, and deletes its files. */
@Timeout(180)
class StoppedDemoIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @RegisterExtension
    static final DemoRedis REDIS = new DemoRedis();

    @TempDir
    private Path temporary;

    @ParameterizedTest
    @ValueSource(strings = {"--zookeeper", "--redlock"})
    void ctrlCLeavesNoFileNoProcessAndNoKey(String lock) throws IOException {
        Process demo = demo(lock, "--redis", REDIS.uri());
        List<ProcessHandle> children = demo.descendants().toList();

        demo.destroy();

        assertThat(demo.onExit()).succeedsWithin(PATIENCE);
        assertThat(children)
                .isNotEmpty()
                .allSatisfy(it -> assertThat(it.onExit()).succeedsWithin(PATIENCE));
        assertThat(temporary).isEmptyDirectory();
        assertThat(REDIS.keysThatNeverExpire()).isEmpty();
    }

    @Test
    void aKilledDemoLeavesNoProcess() throws IOException {
        Process demo = demo("--redlock");
        List<ProcessHandle> children = demo.descendants().toList();

        demo.destroyForcibly();

        assertThat(children)
                .hasSizeGreaterThan(6)
                .allSatisfy(it -> assertThat(it.onExit()).succeedsWithin(PATIENCE));
        assertThat(temporary).isEmptyDirectory();
    }

    /** Starts the demo in a JVM of its own, and waits until the shops are open. Their sale is long. */
    private Process demo(String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-Djava.io.tmpdir=" + temporary, "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(FlashSale.class.getName(), "--buyers", "100000"));
        command.addAll(List.of(arguments));
        Process demo = new ProcessBuilder(command).redirectErrorStream(true).start();
        StringBuilder out = new StringBuilder();
        BufferedReader output = demo.inputReader(StandardCharsets.UTF_8);
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.contains("shops are open")) {
                return demo;
            }
            out.append(line).append('\n');
        }
        throw new AssertionError("the demo ended: " + out);
    }
}
