package io.holdfast.benchmarks;

import io.holdfast.benchmarks.model.Capacity;
import io.holdfast.benchmarks.report.Costs;
import io.holdfast.benchmarks.report.Crowds;
import io.holdfast.benchmarks.report.Drawing;
import io.holdfast.benchmarks.report.Goal;
import io.holdfast.benchmarks.report.Goals;
import io.holdfast.benchmarks.report.Overview;
import io.holdfast.benchmarks.report.ResultFiles;
import io.holdfast.benchmarks.report.Sample;
import io.holdfast.benchmarks.report.Table;
import io.holdfast.benchmarks.watch.Observation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Reads the files of a run, and writes its report beside them. */
final class Report {

    static final String ENVIRONMENT = "environment.json";

    /** Beside the folders of the runs that it shows. */
    static final String RATIOS = "ratios.svg";

    private static final List<String> SHOWN_TOGETHER = List.of(Main.REDIS, Main.REDLOCK, Main.ZOOKEEPER, Main.POSTGRES);
    private static final String WHAT = "benchmarks";
    private static final String ROUND = "round-";
    private static final String WATCH = "watch-";
    private static final String JMH = "jmh-";

    private static final String HOW = """
            A ratio compares two measurements in one round of one run, on the same servers. Each round ran everything once,
            in a JVM of its own, one after the other. A ratio that stands alone was measured in one round only. The columns
            `Holdfast` and `it has` show medians over the rounds. The median of the ratio decides whether the goal is reached.

            """;

    private Report() {}

    static Path jmhFile(Path folder, int round, int number, String benchmark) throws IOException {
        return Files.createDirectories(folder.resolve(ROUND + round))
                .resolve(JMH + "%02d-%s.json".formatted(number, benchmark));
    }

    static Path watchFile(Path folder, int round, List<String> watch) throws IOException {
        return Files.createDirectories(folder.resolve(ROUND + round))
                .resolve(WATCH + String.join("-", watch) + ".json");
    }

    static Path comparisonFile(Path folder, int round, Observation seen) throws IOException {
        List<String> name = new ArrayList<>(List.of(seen.observation()));
        new TreeMap<>(seen.params()).forEach((parameter, value) -> name.add(parameter + "-" + value));
        return watchFile(folder, round, name);
    }

    /** Deletes the measurements of a former run. Otherwise the next report would mix them with its own. */
    static void forgetMeasurements(Path folder) throws IOException {
        for (Path round : list(folder)) {
            if (isRound(round)) {
                for (Path file : list(round)) {
                    String name = String.valueOf(file.getFileName());
                    if (name.endsWith(".json") && (name.startsWith(JMH) || name.startsWith(WATCH))) {
                        Files.delete(file);
                    }
                }
            }
        }
    }

    private static boolean isRound(Path folder) {
        return String.valueOf(folder.getFileName()).startsWith(ROUND);
    }

    /** Writes {@code report.md} and the charts, and beside the folder the picture of all ratios, when the runs that it shows are there. */
    static Path write(Path folder) throws IOException {
        for (Path file : list(folder)) {
            if (file.toString().endsWith(Drawing.SVG)) {
                Files.delete(file);
            }
        }
        for (Map.Entry<String, String> chart : charts(folder).entrySet()) {
            Path unused = Files.writeString(folder.resolve(chart.getKey()), chart.getValue());
        }
        Path runs = folder.toAbsolutePath().normalize().resolveSibling("");
        if (SHOWN_TOGETHER.stream().allMatch(it -> Files.exists(runs.resolve(it).resolve(ENVIRONMENT)))) {
            Path unused = Files.writeString(runs.resolve(RATIOS), ratios(runs));
        }
        return Files.writeString(folder.resolve("report.md"), text(folder));
    }

    /** The charts of a run, as the text of each file by its name. */
    static Map<String, String> charts(Path folder) throws IOException {
        return Drawing.files(samples(folder));
    }

    /** The picture of all ratios. */
    static String ratios(Path runs) throws IOException {
        List<Overview.Run> shown = new ArrayList<>();
        for (String run : SHOWN_TOGETHER) {
            List<Goal> goals = new ArrayList<>(goals(runs.resolve(run)));
            if (run.equals(Main.POSTGRES)) {
                goals.addAll(Goals.besidePostgres());
            }
            shown.add(new Overview.Run(goals, samples(runs.resolve(run))));
        }
        return Overview.of(shown).toSvg();
    }

    /** Returns the text of {@code report.md} for the measurements in a folder. */
    static String text(Path folder) throws IOException {
        List<Sample> samples = samples(folder);
        StringBuilder text = new StringBuilder("# Benchmarks: %s%n%n".formatted(folder.getFileName()))
                .append(HOW)
                .append(Table.ofGoals(goals(folder), samples))
                .append(Costs.table(samples))
                .append(Capacity.section(samples))
                .append(Crowds.section(samples))
                .append("\n## On what\n\n| | |\n| --- | --- |\n");
        environment(folder).forEach((name, value) -> text.append("| %s | %s |%n".formatted(name, value)));
        text.append("\n## Charts\n\n");
        return text.append(Drawing.links(samples))
                .append("\n## Everything\n\nWith the names that the JSON files have.\n")
                .append(Table.ofAll(samples))
                .toString();
    }

    /** Returns the goals of a run. A run of one module has stricter goals of its own. An older run has its name from its folder only. */
    private static List<Goal> goals(Path folder) throws IOException {
        String named = String.valueOf(folder.getFileName());
        return goals(environment(folder).getOrDefault(WHAT, named));
    }

    private static Map<String, String> environment(Path folder) throws IOException {
        return ResultFiles.ofTexts(Files.readString(folder.resolve(ENVIRONMENT)));
    }

    private static List<Goal> goals(String what) {
        return switch (what) {
            case Main.REDIS -> Goals.ofRedis();
            case Main.REDLOCK -> Goals.ofRedlock();
            case Main.ZOOKEEPER -> Goals.ofZooKeeper();
            case Main.POSTGRES -> Goals.ofPostgres();
            case Main.HAND_OVER -> Goals.ofHandOver();
            case Main.WAITING -> Goals.ofWaiting();
            case Main.ELECTION -> Goals.ofElection();
            default -> Goals.all();
        };
    }

    static String goalsOfRedis(Path folder) throws IOException {
        return goalsOf(Goals.ofRedis(), folder);
    }

    static String goalsOfRedlock(Path folder) throws IOException {
        return goalsOf(Goals.ofRedlock(), folder);
    }

    static String goalsOfZooKeeper(Path folder) throws IOException {
        return goalsOf(Goals.ofZooKeeper(), folder);
    }

    static String goalsOfPostgres(Path folder) throws IOException {
        return goalsOf(Goals.ofPostgres(), folder);
    }

    static String goalsOfWaiting(Path folder) throws IOException {
        return goalsOf(Goals.ofWaiting(), folder);
    }

    static String goalsOfElection(Path folder) throws IOException {
        return goalsOf(Goals.ofElection(), folder);
    }

    static String crowds(Path folder) throws IOException {
        return Crowds.section(samples(folder));
    }

    static String capacity(Path folder) throws IOException {
        return Capacity.section(samples(folder));
    }

    static String goalsOfHandOver(Path folder) throws IOException {
        return goalsOf(Goals.ofHandOver(), folder);
    }

    /** The goals of one module, what a cycle costs, and the load that says how far to trust them. */
    private static String goalsOf(List<Goal> goals, Path folder) throws IOException {
        List<Sample> samples = samples(folder);
        Map<String, String> environment = environment(folder);
        return "%n%s%s%nLoad before the run, on %s cores: %s%n"
                .formatted(
                        Table.ofGoals(goals, samples),
                        Costs.table(samples),
                        environment.get(Machine.CORES),
                        environment.get(Machine.LOAD));
    }

    private static List<Sample> samples(Path folder) throws IOException {
        List<Sample> samples = new ArrayList<>();
        for (Path round : list(folder)) {
            if (!isRound(round)) {
                continue;
            }
            int number = Integer.parseInt(String.valueOf(round.getFileName()).substring(ROUND.length()));
            for (Path file : list(round)) {
                boolean isWatch = String.valueOf(file.getFileName()).startsWith(WATCH);
                String json = Files.readString(file);
                samples.addAll(isWatch ? ResultFiles.ofObservation(json, number) : ResultFiles.ofJmh(json, number));
            }
        }
        return samples;
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }

    /** Writes what was run, and on what. The user chooses the name of the folder, so it does not tell. */
    static void writeEnvironment(Path folder, String what, Map<String, String> text) throws IOException {
        Map<String, String> environment = new LinkedHashMap<>(Map.of(WHAT, what));
        environment.putAll(text);
        Path unused = Files.writeString(folder.resolve(ENVIRONMENT), ResultFiles.toJson(environment));
    }
}
