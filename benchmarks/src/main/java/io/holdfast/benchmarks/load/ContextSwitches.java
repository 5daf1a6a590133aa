package io.holdfast.benchmarks.load;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The context switches of the threads of this process, as Linux counts them. Ended threads do not count any more. */
final class ContextSwitches {

    private static final Path THREADS = Path.of("/proc/self/task");

    private ContextSwitches() {}

    /** Returns voluntary and other switches; 0 on a system without this count. */
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
            throw new IllegalStateException("cannot read the threads of this process", e);
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

    /** Parses the {@code status} of one thread. */
    static long of(String status) {
        return status.lines()
                .filter(it -> it.contains("voluntary_ctxt_switches:"))
                .mapToLong(
                        it -> Long.parseLong(it.substring(it.indexOf(':') + 1).strip()))
                .sum();
    }
}
