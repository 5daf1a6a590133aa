package io.holdfast.benchmarks;

import io.holdfast.benchmarks.Plan.Series;
import io.holdfast.benchmarks.cold.FirstLock;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.report.ResultFiles;
import io.holdfast.benchmarks.watch.Observation;
import io.holdfast.benchmarks.watch.Watch;
import io.holdfast.testkit.server.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** Starts the servers, runs a plan in rounds, and writes the report. Prints failures at the end, and continues after each of them. */
public final class Main {

    private static final String USAGE = """
            usage: run redis|redlock|zookeeper|postgres|hand-over|waiting|election|capacity|crowded|first-lock|quick|contended|once|all|smoke [FOLDER] [PART]
                     writes the results to FOLDER; with PART, runs only the parts whose names contain it, and keeps the other results in FOLDER
                   run report FOLDER
                     writes the report of a run again""";
    private static final Duration WATCH_LIMIT = Duration.ofMinutes(20);

    static final String REDIS = "redis";
    static final String REDLOCK = "redlock";
    static final String ZOOKEEPER = "zookeeper";
    static final String POSTGRES = "postgres";
    static final String HAND_OVER = "hand-over";
    static final String WAITING = "waiting";
    static final String ELECTION = "election";
    private static final String CAPACITY = "capacity";
    private static final String CROWDED = "crowded";

    private final String what;
    private final Plan plan;
    private final Path folder;
    private final List<String> failures = new ArrayList<>();

    /** The output of a run at its end. */
    private interface Summary {
        String of(Path folder) throws IOException;
    }

    private Main(String what, Plan plan, Path folder) {
        this.what = what;
        this.plan = plan;
        this.folder = folder;
    }

    /**
     * Runs a plan; see {@code ./benchmarks/run}.
     *
     * @param args the arguments, see the usage
     * @throws IOException if results cannot be written
     */
    public static void main(String[] args) throws IOException {
        String what = args.length == 0 ? "" : args[0];
        Path folder = Path.of(args.length > 1 ? args[1] : folderOf(what));
        String part = args.length > 2 ? args[2] : "";
        switch (what) {
            case REDIS -> run(what, Plan.redis(), folder, part, Report::goalsOfRedis);
            case REDLOCK -> run(what, Plan.redlock(), folder, part, Report::goalsOfRedlock);
            case ZOOKEEPER -> run(what, Plan.zookeeper(), folder, part, Report::goalsOfZooKeeper);
            case POSTGRES -> run(what, Plan.postgres(), folder, part, Report::goalsOfPostgres);
            case HAND_OVER -> run(what, Plan.handOver(), folder, part, Report::goalsOfHandOver);
            case WAITING -> run(what, Plan.waiting(), folder, part, Report::goalsOfWaiting);
            case ELECTION -> run(what, Plan.election(), folder, part, Report::goalsOfElection);
            case CAPACITY -> run(what, Plan.capacity(), folder, part, Report::capacity);
            case CROWDED -> run(what, Plan.crowded(), folder, part, Report::crowds);
            case "first-lock" -> FirstLock.measure();
            case "quick" -> run(what, Plan.quick(), folder, part);
            case "contended" -> run(what, Plan.contended(), folder, part);
            case "once" -> run(what, Plan.all().lasting(1, 10, 3), folder, part);
            case "all" -> run(what, Plan.all(), folder, part);
            case "smoke" -> run(what, Plan.quick().lasting(1, 1, 1), folder, part);
            case "report" -> System.out.println(Report.write(folder));
            default -> {
                System.err.println(USAGE);
                System.exit(2);
            }
        }
    }

    /** Returns the folder of the results. The repository does not store runs that follow each change. */
    private static String folderOf(String what) {
        boolean isOfOnePart = List.of(
                        REDIS, REDLOCK, ZOOKEEPER, POSTGRES, HAND_OVER, WAITING, ELECTION, CAPACITY, CROWDED)
                .contains(what);
        return (isOfOnePart ? "benchmarks/target/" : "benchmarks/results/") + what;
    }

    private static void run(String what, Plan plan, Path folder, String part) throws IOException {
        run(what, plan, folder, part, it -> "");
    }

    /** Runs a plan, or a part of it. With a part, keeps the former measurements of the rest. */
    private static void run(String what, Plan plan, Path folder, String part, Summary summary) throws IOException {
        Files.createDirectories(folder);
        if (part.isEmpty()) {
            Report.forgetMeasurements(folder);
        }
        new Main(what, plan.only(part), folder).run(summary);
    }

    private void run(Summary summary) throws IOException {
        long begin = System.nanoTime();
        // A container cannot be frozen, and the run would measure its network.
        if (System.getProperty(RedisServer.SWITCH) == null) {
            System.setProperty(RedisServer.SWITCH, isRedisOnPath() ? "path" : "embedded");
        }
        try (Servers servers = new Servers(plan.needsPostgres())) {
            Addresses addresses = servers.addresses();
            Report.writeEnvironment(folder, what, Machine.describe(addresses, servers.kind()));
            for (Comparison comparison : plan.comparisons()) {
                compare(comparison, addresses);
            }
            for (int round = 1; round <= plan.rounds(); round++) {
                measure(round, servers);
                watch(round, addresses);
            }
        }
        System.out.print(summary.of(folder));
        System.out.printf("%n%s after %d s%n", Report.write(folder), (System.nanoTime() - begin) / 1_000_000_000);
        if (!failures.isEmpty()) {
            failures.forEach(it -> System.err.println("failed: " + it));
            System.exit(1);
        }
        // Does not wait for threads that a library has left behind.
        System.exit(0);
    }

    private static boolean isRedisOnPath() {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            if (Files.isExecutable(Path.of(folder, "redis-server"))) {
                return true;
            }
        }
        return false;
    }

    private void compare(Comparison comparison, Addresses addresses) throws IOException {
        try (ComparisonRun run = new ComparisonRun(comparison, addresses, Duration.ofSeconds(plan.warmUpSeconds()))) {
            for (int round = 1; round <= plan.rounds(); round++) {
                System.out.printf("%n[round %d of %d] %s%n", round, plan.rounds(), comparison);
                for (Observation seen : run.round(Duration.ofSeconds(plan.seconds()))) {
                    System.out.println(seen);
                    Path unused = Files.writeString(Report.comparisonFile(folder, round, seen), seen.toJson());
                }
            }
            failures.addAll(run.failures());
        }
    }

    private void measure(int round, Servers servers) throws IOException {
        for (int number = 0; number < plan.series().size(); number++) {
            Series series = plan.series().get(number);
            System.out.printf("%n[round %d of %d] %s%n", round, plan.rounds(), series);
            Path file = Report.jmhFile(folder, round, number, series.benchmark());
            try {
                int results = new Runner(
                                options(series, servers.addresses(), file).build())
                        .run()
                        .size();
                if (results < series.size()) {
                    failures.add("%d of %s in round %d".formatted(series.size() - results, series, round));
                }
                Path unused = Files.writeString(file, ResultFiles.withoutPlaces(Files.readString(file)));
            } catch (RunnerException e) {
                failures.add("%s in round %d: %s".formatted(series, round, e));
            }
            servers.resume();
        }
    }

    private ChainedOptionsBuilder options(Series series, Addresses addresses, Path file) {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("\\." + series.benchmark() + "\\.")
                .forks(1)
                .warmupIterations(1)
                .warmupTime(TimeValue.seconds(plan.warmUpSeconds()))
                .measurementIterations(1)
                .measurementTime(TimeValue.seconds(plan.seconds()))
                .timeout(TimeValue.seconds(120))
                .jvmArgsAppend(jvmArguments(addresses).toArray(String[]::new))
                .addProfiler(GCProfiler.class)
                .resultFormat(ResultFormatType.JSON)
                .result(file.toString());
        series.parameters().forEach((name, values) -> {
            var unused = options.param(name, values.toArray(String[]::new));
        });
        return options;
    }

    private static List<String> jvmArguments(Addresses addresses) {
        List<String> arguments = new ArrayList<>(List.of("-Xms1g", "-Xmx1g"));
        arguments.addAll(addresses.asArguments());
        return arguments;
    }

    private void watch(int round, Addresses addresses) throws IOException {
        for (List<String> watch : plan.watchesOf(round)) {
            System.out.printf("%n[round %d of %d] %s%n", round, plan.rounds(), watch);
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(addresses.asArguments());
            // A million leases need more memory than a fork.
            command.addAll(List.of("-Xmx4g", "-cp", System.getProperty("java.class.path"), Watch.class.getName()));
            Path file = Report.watchFile(folder, round, watch);
            command.add(file.toString());
            command.add(Integer.toString(plan.warmUpSeconds()));
            command.addAll(watch);
            Process process = new ProcessBuilder(command).inheritIO().start();
            boolean hasEnded = waitFor(process);
            if (!hasEnded || process.exitValue() != 0) {
                Process unused = process.destroyForcibly();
                failures.add("%s in round %d".formatted(watch, round));
                boolean isGone = Files.deleteIfExists(file);
                assert isGone || !Files.exists(file);
            } else {
                System.out.println(Files.readString(file));
            }
        }
    }

    private static boolean waitFor(Process process) {
        try {
            return process.waitFor(WATCH_LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
