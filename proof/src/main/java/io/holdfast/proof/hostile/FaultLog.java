package io.holdfast.proof.hostile;

import io.holdfast.proof.hostile.Plan.Planned;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Logs the beginning of each fault on the console and in a file, and its end in the file. Remembers all faults. Thread-safe. */
final class FaultLog implements AutoCloseable {

    private final Writer file;
    private final PrintStream console;
    private final long startNanos = System.nanoTime();
    private final List<Injected> ended = new ArrayList<>();

    FaultLog(Path file, PrintStream console) {
        this.console = console;
        try {
            this.file = Files.newBufferedWriter(file);
        } catch (IOException e) {
            throw new UncheckedIOException("the faults cannot be written down", e);
        }
    }

    /** Logs the beginning of a fault. The caller injects it afterwards. */
    synchronized void begins(long nanos, Planned fault) {
        String line = "%s  %s, for %s s, choice %d"
                .formatted(since(nanos), fault.kind().says(), seconds(fault.time()), fault.choice());
        console.println(line);
        write(line);
    }

    synchronized void ended(Injected fault) {
        ended.add(fault);
        write("%s  ended, of %s: %s"
                .formatted(since(fault.toNanos()), since(fault.fromNanos()).strip(), fault.kind()));
    }

    synchronized void says(String line) {
        console.println(line);
        write(line);
    }

    synchronized List<Injected> injected() {
        return List.copyOf(ended);
    }

    private void write(String line) {
        try {
            file.write(line + '\n');
            file.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("a fault cannot be written down", e);
        }
    }

    private String since(long nanos) {
        return "%10s s".formatted(seconds(Duration.ofNanos(nanos - startNanos)));
    }

    private static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%.3f", time.toMillis() / 1000.0);
    }

    @Override
    public synchronized void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException("the faults cannot be written down", e);
        }
    }
}
