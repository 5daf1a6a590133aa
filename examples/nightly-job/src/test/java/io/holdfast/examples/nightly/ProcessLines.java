package io.holdfast.examples.nightly;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;

/** What a process has printed so far. The process ends with this JVM at the latest, also if the test is stopped before its end. */
final class ProcessLines {

    private final Process process;
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();

    private ProcessLines(Process process) {
        this.process = process;
    }

    static ProcessLines of(Process process, String name) {
        ProcessLines lines = new ProcessLines(process);
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        Thread reader = new Thread(lines::read, "lines of " + name);
        reader.setDaemon(true);
        reader.start();
        return lines;
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

    List<String> all() {
        return List.copyOf(lines);
    }

    boolean any(Predicate<String> predicate) {
        return lines.stream().anyMatch(predicate);
    }

    @Override
    public String toString() {
        return lines.toString();
    }
}
