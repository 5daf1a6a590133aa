package io.holdfast.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
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

    private Program(Process process) {
        this.process = process;
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
        return new Program(
                new ProcessBuilder(command).redirectError(Redirect.DISCARD).start());
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
    String output() throws InterruptedException {
        try {
            String output = lines.lines().map(it -> it + "\n").collect(Collectors.joining());
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("it ends").isTrue();
            assertThat(process.exitValue()).isZero();
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
