package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks the alert rules with promtool, if it is installed. */
class PromtoolTest {

    private static final Path RULES = Path.of("dashboards").toAbsolutePath();
    private static final Optional<Path> TOOL = Arrays.stream(
                    System.getenv("PATH").split(File.pathSeparator, -1))
            .map(it -> Path.of(it, "promtool"))
            .filter(Files::isExecutable)
            .findFirst();

    @BeforeEach
    void hasTheTool() {
        assumeTrue(
                TOOL.isPresent(),
                "[holdfast] left out: alert rules. Why: there is no promtool on the PATH; it comes with Prometheus");
    }

    @Test
    void theRulesAreCorrect() throws Exception {
        assertThat(run("check", "rules", RULES.resolve("alerts.yml").toString()))
                .contains("SUCCESS: 10 rules found");
    }

    @Test
    void theAlertsFireWhenTheyShould() throws Exception {
        assertThat(run("test", "rules", RULES.resolve("alerts-test.yml").toString()))
                .contains("SUCCESS");
    }

    @Test
    void aRuleThatDoesNotFireIsFound(@TempDir Path other) throws Exception {
        String rules = Files.readString(RULES.resolve("alerts.yml"));
        Files.writeString(
                other.resolve("alerts.yml"), rules.replace("reason!=\"client_closed\"", "reason!=\"expired\""));
        Files.copy(RULES.resolve("alerts-test.yml"), other.resolve("alerts-test.yml"));

        assertThat(run("test", "rules", other.resolve("alerts-test.yml").toString()))
                .contains("FAILED")
                .contains("HoldfastLeaseLost");
    }

    private static String run(String... arguments) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(arguments).redirectErrorStream(true);
        builder.command().add(0, TOOL.orElseThrow().toString());
        Process process = builder.start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
            return said;
        } finally {
            process.destroyForcibly();
        }
    }
}
