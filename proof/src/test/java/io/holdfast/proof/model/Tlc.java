package io.holdfast.proof.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tlc2.TLC;

/** Runs TLC, the model checker of TLA+, on one of the models in {@code proof/models}. */
final class Tlc {

    private static final Path MODELS = Path.of("models").toAbsolutePath();
    private static final Pattern STATES = Pattern.compile("([0-9,]+) distinct states found, 0 states left on queue");
    private static final Pattern VIOLATED =
            Pattern.compile("Invariant \\w+ is violated|Temporal properties were violated");

    private Tlc() {}

    /**
     * What TLC found.
     *
     * @param broken the line that says which promise a state breaks, or "nothing"
     * @param states how many distinct states it has explored; 0 if it did not explore all of them
     * @param output all that it printed
     */
    record Result(String broken, long states, String output) {}

    /** Explores all states of a model, or those before the first that breaks a promise. */
    static Result explore(Path folder, String model, String behaviour, Map<String, String> constants, String promises)
            throws IOException, InterruptedException {
        String definitions = constants.entrySet().stream()
                .map(c -> "def_%s == %s%n".formatted(c.getKey(), c.getValue()))
                .collect(Collectors.joining());
        Files.writeString(
                folder.resolve("MC.tla"), "---- MODULE MC ----%nEXTENDS %s%n%s====%n".formatted(model, definitions));
        Files.writeString(
                folder.resolve("MC.cfg"),
                "SPECIFICATION %s%nCONSTANTS%n%s%s%n"
                        .formatted(
                                behaviour,
                                constants.keySet().stream()
                                        .map(c -> "  %s <- def_%s%n".formatted(c, c))
                                        .collect(Collectors.joining()),
                                promises));
        Files.copy(MODELS.resolve(model + ".tla"), folder.resolve(model + ".tla"));
        String output = run(folder);
        Matcher states = STATES.matcher(output);
        Matcher violated = VIOLATED.matcher(output);
        String broken = violated.find() ? violated.group() : "nothing";
        assertThat(output).as("TLC ended by itself").contains("Finished in");
        return new Result(broken, states.find() ? Long.parseLong(states.group(1).replace(",", "")) : 0, output);
    }

    /** Sets constants of the model, such as {@code MaxAsks=1; MaySave=TRUE}. */
    static void set(Map<String, String> constants, String bounds) {
        for (String bound : bounds.isEmpty() ? new String[0] : bounds.split("; ", -1)) {
            int is = bound.indexOf('=');
            assertThat(constants).containsKey(bound.substring(0, is));
            constants.put(bound.substring(0, is), bound.substring(is + 1));
        }
    }

    private static String jar() {
        return TLC.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    }

    /** In a JVM of its own: TLC keeps its state in static fields. */
    private static String run(Path folder) throws IOException, InterruptedException {
        Path printed = folder.resolve("tlc.txt");
        Process tlc = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx2g",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1", // most explorations are short
                        "-Djava.io.tmpdir=" + folder, // where TLC unpacks its modules
                        "-cp",
                        jar(),
                        "tlc2.TLC",
                        "-deadlock", // a schedule may end, which is no violation
                        "-workers",
                        "1",
                        "-config",
                        "MC.cfg",
                        "MC.tla"))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            int unused = tlc.waitFor();
        } finally {
            tlc.destroyForcibly();
        }
        return Files.readString(printed, StandardCharsets.UTF_8);
    }
}
