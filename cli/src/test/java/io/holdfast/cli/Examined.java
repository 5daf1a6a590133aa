package io.holdfast.cli;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What the doctor has printed about a server, and its exit code. */
record Examined(int code, String out, String err, Duration took) {

    static Examined at(String address, Map<String, String> environment, String... options) {
        return of("doctor", Duration.ofSeconds(30), address, environment, options);
    }

    /** Waits a second for the answers of one check. */
    static Examined briefly(String address) {
        return of("doctor", Duration.ofSeconds(6), address, Map.of());
    }

    static Examined of(
            String command, Duration patience, String address, Map<String, String> environment, String... options) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        List<String> words = new ArrayList<>(List.of(command, "--store", address));
        words.addAll(List.of(options));
        long start = System.nanoTime();
        int code = new Program(
                        environment,
                        new Stores(environment)::open,
                        patience,
                        new BufferedReader(Reader.nullReader()),
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8))
                .run(words);
        return new Examined(
                code,
                out.toString(StandardCharsets.UTF_8),
                err.toString(StandardCharsets.UTF_8),
                Duration.ofNanos(System.nanoTime() - start));
    }

    /** Returns the line of a check. */
    String line(String check) {
        return out.lines()
                .filter(line -> line.contains(" " + check + ": "))
                .findFirst()
                .orElse("no line of " + check + " in " + out);
    }
}
