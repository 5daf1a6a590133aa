package io.holdfast.proof.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tlc2.TLC;

/** Runs TLC, the model checker of TLA+, on one of the models in {@code proof/models}. */
final class Tlc {

    private static final Path MODELS = Path.of("models").toAbsolutePath();

    /** The JVMs that are free. Each ends with this one, which is its input. */
    private static final BlockingQueue<Server> SERVERS = new LinkedBlockingQueue<>();

    private static final Pattern STATES = Pattern.compile("([0-9,]+) distinct states found, 0 states left on queue");
    private static final Pattern VIOLATED =
            Pattern.compile("Invariant \\w+ is violated|Temporal properties were violated");
    private static final String LARGE = "large ";

    private Tlc() {}

    /**
     * One line of {@code explorations.csv}.
     *
     * @param config the name of the configuration, {@code Run} or {@code RunProgress}
     * @param mutant the rule that is switched off, or empty
     * @param bounds constants with other values than in the configuration
     * @param brokenPromise the only promise that is checked, and is expected to be broken; empty for all, of which none is
     * @param states the number of distinct states; 0 if it is not known
     */
    record Exploration(String config, String mutant, String bounds, String brokenPromise, long states) {

        static Exploration of(String[] cells) {
            boolean isNumber = !cells[3].isBlank() && cells[3].strip().chars().allMatch(Character::isDigit);
            return new Exploration(
                    cells[0].strip(),
                    cells[1].strip(),
                    cells[2].strip(),
                    isNumber ? "" : cells[3].strip(),
                    isNumber ? Long.parseLong(cells[3].strip()) : 0);
        }

        String module() {
            return config.replace("Progress", "");
        }

        @Override
        public String toString() {
            return config + ", " + (mutant.isEmpty() ? "" : mutant + ", ") + bounds;
        }
    }

    /**
     * What TLC found.
     *
     * @param broken the line that says which promise a state breaks, or "nothing"
     * @param states how many distinct states it has explored; 0 if it did not explore all of them
     * @param output all that it printed
     */
    record Result(String broken, long states, String output) {}

    /** Returns the lines of the table in their order, without its head. */
    static List<Exploration> explorations(boolean withLarge) throws IOException {
        return Files.readAllLines(MODELS.resolve("explorations.csv")).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .skip(1)
                .filter(line -> withLarge || !line.startsWith(LARGE))
                .map(line -> (line.startsWith(LARGE) ? line.substring(LARGE.length()) : line).split("\\|", -1))
                .map(Exploration::of)
                .toList();
    }

    /** Explores all states of a model, or those before the first that breaks a promise. */
    static Result explore(Path folder, Exploration exploration) throws IOException, InterruptedException {
        String module = Files.readString(MODELS.resolve(exploration.module() + ".tla"));
        String config = Files.readString(MODELS.resolve(exploration.config() + ".cfg"));
        if (!exploration.mutant().isEmpty()) {
            assertThat(module).contains('"' + exploration.mutant() + '"');
            config = set(config, "Mutant", '"' + exploration.mutant() + '"');
        }
        for (String bound : exploration.bounds().isEmpty()
                ? new String[0]
                : exploration.bounds().split("; ", -1)) {
            int is = bound.indexOf('=');
            config = set(config, bound.substring(0, is), bound.substring(is + 1));
        }
        if (!exploration.brokenPromise().isEmpty()) {
            config = config.replaceFirst("(?m)^(INVARIANTS|PROPERTIES) .*$", "$1 " + exploration.brokenPromise());
        }
        return explore(folder, exploration.module(), "", config);
    }

    /** Explores the behaviours of a specification, with all its constants. An operator of the model may be replaced by another one, which has a name. */
    static Result explore(Path folder, String module, String specification, Map<String, String> constants)
            throws IOException, InterruptedException {
        StringBuilder definitions = new StringBuilder();
        StringBuilder config = new StringBuilder("SPECIFICATION " + specification + "\nCONSTANTS\n");
        constants.forEach((name, value) -> {
            boolean isOperator = value.startsWith("Trace");
            definitions.append(isOperator ? "" : "def_%s == %s%n".formatted(name, value));
            config.append("  %s <- %s%n".formatted(name, isOperator ? value : "def_" + name));
        });
        return explore(folder, module, definitions.toString(), config.toString());
    }

    private static Result explore(Path folder, String module, String definitions, String config)
            throws IOException, InterruptedException {
        Files.writeString(
                folder.resolve("MC.tla"), "---- MODULE MC ----\nEXTENDS " + module + "\n" + definitions + "====\n");
        Files.writeString(folder.resolve("MC.cfg"), config);
        Files.copy(MODELS.resolve(module + ".tla"), folder.resolve(module + ".tla"));
        String output = run(folder, config.contains("PROPERTIES"));
        Matcher states = STATES.matcher(output);
        Matcher violated = VIOLATED.matcher(output);
        String broken = violated.find() ? violated.group() : "nothing";
        assertThat(output).as("TLC ended by itself").contains("Finished in");
        return new Result(broken, states.find() ? Long.parseLong(states.group(1).replace(",", "")) : 0, output);
    }

    private static String set(String config, String constant, String value) {
        Pattern line = Pattern.compile("(?m)^  " + constant + " = .*$");
        assertThat(config).containsPattern(line);
        return line.matcher(config).replaceFirst(Matcher.quoteReplacement("  " + constant + " = " + value));
    }

    /** Runs TLC in this folder, and returns what it prints. A check of progress gets a JVM of its own: TLC remembers there that one was violated. */
    private static String run(Path folder, boolean isAlone) throws IOException, InterruptedException {
        Server server = isAlone ? Server.started() : Server.free();
        server.run(folder);
        if (isAlone) {
            server.process.destroy();
        } else {
            SERVERS.put(server); // one that fails ends with this JVM
        }
        return Files.readString(folder.resolve("tlc.txt"), StandardCharsets.UTF_8);
    }

    /** A JVM with TLC in it. */
    private record Server(Process process, BufferedReader answers) {

        static Server free() throws IOException {
            Server free = SERVERS.poll();
            return free != null && free.process.isAlive() ? free : started();
        }

        private static Server started() throws IOException {
            Path temporary = Files.createDirectories(Path.of("target", "tlc").toAbsolutePath());
            Process process = new ProcessBuilder(List.of(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx2g",
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-Djava.io.tmpdir=" + Files.createTempDirectory(temporary, "modules"), // unpacked by TLC
                            "-cp",
                            placeOf(Tlc.class) + File.pathSeparator + placeOf(TLC.class),
                            TlcServer.class.getName(),
                            "-deadlock", // a schedule may end, which is no violation
                            "-workers",
                            "1"))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return new Server(process, process.inputReader(StandardCharsets.UTF_8));
        }

        private static String placeOf(Class<?> of) {
            return Path.of(URI.create(of.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toString()))
                    .toString();
        }

        void run(Path folder) throws IOException {
            process.getOutputStream().write((folder + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
            assertThat(answers.readLine()).as("the answer of TLC").isEqualTo("done");
        }
    }
}
