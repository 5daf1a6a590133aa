package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The README of this service shows lines that are compiled here. */
class ReadmeTest {

    private static final Path HERE = Path.of("").toAbsolutePath();

    @ParameterizedTest
    @ValueSource(strings = {"CustomerRoutes", "NightlyJob"})
    void theLinesOfTheReadmeAreTheCompiledOnes(String name) throws IOException {
        String source = Files.readString(HERE.resolve("src/main/java/io/holdfast/examples/nightly/" + name + ".java"));
        String lines = source.substring(
                source.indexOf('\n', source.indexOf("// README: begin")) + 1, source.indexOf("// README: end"));
        String block = "```java\n" + lines.stripTrailing().stripIndent() + "\n```\n";

        assertThat(Files.readString(HERE.resolve("README.md"))).contains(block);
    }
}
