package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Runs a program whose exit code must be 0. */
final class Command {

    private Command() {}

    /** Returns its output. */
    static String run(Path directory, Map<String, String> environment, String... command) throws Exception {
        Path output = Files.createTempFile("output", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        int status = builder.start().waitFor();
        String printed = Repository.read(output);
        Files.delete(output);
        assertThat(status).as(printed).isZero();
        return printed;
    }
}
