package io.holdfast.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** A program of a page in a JVM of its own, as a reader starts it. */
final class Program {

    private static final Path SOURCES =
            Path.of("src/main/java/io/holdfast/examples/quickstart").toAbsolutePath();

    private final Process process;
    private final BufferedReader lines;

    /** Why it failed, if it did. */
    private final Path errors;

    private Program(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
        this.lines = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Returns the source as the page shows it: without its package. */
    static String shown(Class<?> program) throws IOException {
        String source = Files.readString(SOURCES.resolve(program.getSimpleName() + ".java"));
        return source.substring(source.indexOf("import "));
    }

    static Program start(Class<?> program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Dslf4j.provider=org.slf4j.helpers.NOP_FallbackServiceProvider", // the program prints the output
                "-cp",
                System.getProperty("java.class.path"),
                program.getName()));
        command.addAll(List.of(arguments));
        Path errors = Files.createTempFile(program.getSimpleName(), ".txt");
        errors.toFile().deleteOnExit();
        return new Program(
                new ProcessBuilder(command).redirectError(errors.toFile()).start(), errors);
    }

    String nextLine() throws IOException {
        String line = lines.readLine();
        assertThat(line).as("the program has not ended").isNotNull();
        return line;
    }

    /** Waits until it ends, or is killed. */
    void eachLine(Consumer<String> reader) {
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                reader.accept(line);
            }
        } catch (IOException killed) {
            // There is no other line.
        }
    }

    /** Returns its output until it ends by itself with exit code 0. */
    String output() throws InterruptedException, IOException {
        try {
            String output = lines.lines().map(it -> it + "\n").collect(Collectors.joining());
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("it ends").isTrue();
            assertThat(process.exitValue()).as("%s", Files.readString(errors)).isZero();
            return output;
        } finally {
            kill();
        }
    }

    /** Ends it as Ctrl-C and most supervisors do, and waits until it has ended. */
    void end() throws InterruptedException {
        process.destroy();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("it ends").isTrue();
    }

    long pid() {
        return process.pid();
    }

    void kill() {
        process.destroyForcibly();
    }
}
