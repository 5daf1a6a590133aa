package io.holdfast.proof.hostile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Delays the calls by which a process waits for its disk. It needs strace, and the right to trace a process of this machine. */
final class SlowDisk {

    private static final int SHORTEST_MILLIS = 50;
    private static final int LONGEST_MILLIS = 1_000;
    private static final long DETACHES_WITHIN_SECONDS = 10;

    private SlowDisk() {}

    static boolean isHere() {
        return Arrays.stream(
                        Optional.ofNullable(System.getenv("PATH")).orElse("").split(":", -1))
                .filter(it -> !it.isEmpty())
                .anyMatch(it -> Files.isExecutable(Path.of(it, "strace")));
    }

    static void of(long pid, Strike strike) throws InterruptedException {
        int millis = SHORTEST_MILLIS + strike.other(LONGEST_MILLIS - SHORTEST_MILLIS);
        List<String> command = List.of(
                "strace",
                "-f",
                "-q",
                "-e",
                "trace=fdatasync,fsync",
                "-e",
                "inject=fdatasync,fsync:delay_enter=" + TimeUnit.MILLISECONDS.toMicros(millis),
                "-p",
                Long.toString(pid));
        Process tracing;
        try {
            tracing = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("strace cannot be run", e);
        }
        try {
            strike.last();
        } finally {
            tracing.destroy(); // it lets the process go on
            if (!tracing.waitFor(DETACHES_WITHIN_SECONDS, TimeUnit.SECONDS)) {
                tracing.destroyForcibly();
            }
        }
    }
}
