package io.holdfast.examples.nightly;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The application in a JVM of its own. */
final class InstanceProcess implements AutoCloseable {

    private static final String READY = "ready ";

    private final Process process;
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();

    private InstanceProcess(Process process) {
        this.process = process;
    }

    static InstanceProcess start(Settings settings) throws IOException {
        InstanceProcess instance = new InstanceProcess(new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        Main.class.getName(),
                        settings.toJson()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
        // Ends the process if the test is stopped before its end.
        Runtime.getRuntime().addShutdownHook(new Thread(instance.process::destroyForcibly));
        Thread reader = new Thread(instance::read, "lines of " + settings.instance());
        reader.setDaemon(true);
        reader.start();
        return instance;
    }

    private void read() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException ended) {
            lines.add("ended: " + ended.getMessage());
        }
    }

    boolean hasSaid(String text) {
        return lines.stream().anyMatch(line -> line.contains(text));
    }

    int port() throws InterruptedException {
        Town.until("an instance is ready, which said " + lines, () -> hasSaid(READY) || !process.isAlive());
        return lines.stream()
                .filter(line -> line.startsWith(READY))
                .map(line -> Integer.parseInt(line.substring(READY.length())))
                .findFirst()
                .orElseThrow(() -> new AssertionError("it ended: " + lines));
    }

    /** Sends SIGKILL, so the instance cannot release anything. */
    void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    @Override
    public void close() {
        kill();
    }
}
