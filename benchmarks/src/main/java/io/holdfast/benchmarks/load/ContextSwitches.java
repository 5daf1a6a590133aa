package io.holdfast.benchmarks.load;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** How often the threads of this process were put aside, as Linux counts it. Threads that have ended do not count any more. */
final class ContextSwitches {

    private static final Path THREADS = Path.of("/proc/self/task");

    private ContextSwitches() {}

    /** Voluntary ones and others; 0 where the system does not tell. */
    static long ofThisProcess() {
        if (!Files.isDirectory(THREADS)) {
            return 0;
        }
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
            for (Path thread : threads) {
                sum += ofThread(thread);
            }
        } catch (IOException e) {
            throw new IllegalStateException("the threads of this process cannot be read", e);
        }
        return sum;
    }

    private static long ofThread(Path thread) throws IOException {
        try {
            return of(Files.readString(thread.resolve("status")));
        } catch (NoSuchFileException ended) {
            return 0;
        }
    }

    /** Of one thread's {@code status}. */
    static long of(String status) {
        return status.lines()
                .filter(it -> it.contains("voluntary_ctxt_switches:"))
                .mapToLong(
                        it -> Long.parseLong(it.substring(it.indexOf(':') + 1).strip()))
                .sum();
    }
}
