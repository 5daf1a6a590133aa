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
 * The clock of one server, which is set while the server runs: by libfaketime, where the system has it. Only the time of day is set; the
 * monotonic clock of the process goes on as it does when an operator sets a clock.
 */
final class ServerClock {

    /** The system property with the path of the library: {@value}. */
    static final String LIBRARY = "holdfast.faketime";

    /** What a campaign says where there is none. */
    static final String MISSING =
            "clocks of servers that are set: there is no libfaketime (Debian package faketime, or -D" + LIBRARY
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

    /** How much later than the true time it shows. Written by the thread that sets it. */
    private long shownMillis;

    private ServerClock(Path library, Path file) {
        this.library = library;
        this.file = file;
        write(Duration.ZERO);
    }

    /** Shows the true time; empty if no clock can be set here. */
    static Optional<ServerClock> in(Path folder, String name) {
        return library()
                .map(found -> new ServerClock(found, folder.toAbsolutePath().resolve(name + ".clock")));
    }

    /** A space in the path would end it for the loader of programs. */
    private static Optional<Path> library() {
        String given = System.getProperty(LIBRARY, "");
        List<String> places = given.isEmpty()
                ? USUAL_PLACES.stream()
                        .map(place -> place + File.separator + "libfaketimeMT.so.1")
                        .toList()
                : List.of(given);
        return places.stream().map(Path::of).filter(Files::isReadable).findFirst();
    }

    /** What the server is started with. */
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

    /** Returns when the server shows a time that is this much later, or earlier, than the true one. */
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

    /** In milliseconds, as exact as one round trip. */
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
