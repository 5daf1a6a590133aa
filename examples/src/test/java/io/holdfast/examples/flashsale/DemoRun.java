package io.holdfast.examples.flashsale;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** One sale of the demo, with what it prints. */
final class DemoRun {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    int run(String... arguments) {
        return FlashSale.run(
                List.of(arguments),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    String row(String title) {
        return Stream.of(output().split("\n"))
                .filter(line -> line.startsWith("  " + title + " "))
                .map(line -> line.substring(title.length() + 2).strip())
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row '%s' in:%n%s".formatted(title, output())));
    }

    String output() {
        return out.toString(StandardCharsets.UTF_8);
    }

    String errors() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return output() + "\n" + errors();
    }
}
