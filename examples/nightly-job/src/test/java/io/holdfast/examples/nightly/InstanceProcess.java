package io.holdfast.examples.nightly;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The application in a JVM of its own. */
final class InstanceProcess implements AutoCloseable {

    private static final String READY = "ready ";

    private final Process process;
    private final ProcessLines lines;

    private InstanceProcess(Process process, String name) {
        this.process = process;
        this.lines = ProcessLines.of(process, name);
    }

    static InstanceProcess start(Settings settings) throws IOException {
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        Main.class.getName(),
                        settings.toJson()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new InstanceProcess(process, settings.instance());
    }

    boolean hasSaid(String text) {
        return lines.any(line -> line.contains(text));
    }

    int port() throws InterruptedException {
        Town.until("an instance is ready, which said " + lines, () -> hasSaid(READY) || !process.isAlive());
        return lines.all().stream()
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
