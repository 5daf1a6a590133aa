package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The clock of one server, which libfaketime sets while the server runs, if the machine has it. Only the time of day changes. The monotonic clock of
 * the process is not affected, as when an operator sets a clock.
 */
final class ServerClock {

    /** The system property with the path of the library: {@value}. */
    static final String LIBRARY = "holdfast.faketime";

    /** The line of a campaign on a machine without libfaketime. */
    static final String MISSING =
            "set the clocks of servers: this machine has no libfaketime (Debian package faketime, or -D" + LIBRARY
                    + "=path)";

    /** A server may be frozen by another fault. */
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final List<String> USUAL_PLACES = List.of(
            "/usr/lib/x86_64-linux-gnu/faketime",
            "/usr/lib/aarch64-linux-gnu/faketime",
            "/usr/lib/faketime",
            "/usr/lib64/faketime",
            "/usr/local/lib/faketime");

    private final Path library;
    private final Path file;

    /** The difference to the true time, positive if the clock is ahead. Written by the thread that sets the clock. */
    private long shownMillis;

    private ServerClock(Path library, Path file) {
        this.library = library;
        this.file = file;
        write(Duration.ZERO);
    }

    /** Makes a clock that shows the true time; empty if this machine cannot set clocks. */
    static Optional<ServerClock> in(Path folder, String name) {
        return library()
                .map(found -> new ServerClock(found, folder.toAbsolutePath().resolve(name + ".clock")));
    }

    /** A path with a space does not work: the dynamic loader would end it there. */
    private static Optional<Path> library() {
        String given = System.getProperty(LIBRARY, "");
        List<String> places = given.isEmpty()
                ? USUAL_PLACES.stream()
                        .map(place -> place + File.separator + "libfaketimeMT.so.1")
                        .toList()
                : List.of(given);
        return places.stream().map(Path::of).filter(Files::isReadable).findFirst();
    }

    /** Returns the environment for the start of the server. */
    Map<String, String> environment() {
        return Map.of(
                "LD_PRELOAD",
                library.toString(),
                "FAKETIME_TIMESTAMP_FILE",
                file.toString(),
                "FAKETIME_NO_CACHE",
                "1",
                "FAKETIME_DONT_FAKE_MONOTONIC",
                "1");
    }

    /** Sets the difference to the true time, and returns when the server shows that time. */
    void set(RedisServer server, Duration later) throws InterruptedException {
        long before = shownMillis;
        write(later);
        long startNanos = System.nanoTime();
        for (long now = before; Math.abs(now - later.toMillis()) > Math.abs(now - before); now = difference(server)) {
            if (System.nanoTime() - startNanos > PATIENCE.toNanos()) {
                throw new IllegalStateException("the clock of %s does not follow".formatted(server));
            }
        }
        shownMillis = later.toMillis();
    }

    /** Measures the difference in milliseconds, as exactly as one round trip. */
    private static long difference(RedisServer server) throws InterruptedException {
        List<String> time = Orders.answer(server, redis -> redis.time());
        long micros = Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
        return micros / 1_000 - System.currentTimeMillis();
    }

    private void write(Duration later) {
        try {
            String text = String.format(Locale.ROOT, "%+.3f%n", later.toMillis() / 1000.0);
            Path written = Files.writeString(file.resolveSibling(file.getFileName() + ".new"), text);
            Path unused =
                    Files.move(written, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("a clock cannot be set", e);
        }
    }
}
