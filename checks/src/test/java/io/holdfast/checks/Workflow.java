package io.holdfast.checks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** What the forge runs, as it is written. */
record Workflow(Path file, Map<?, ?> content) {

    private static final Path FOLDER = Repository.ROOT.resolve(".github/workflows");
    private static final Pattern WORDS = Pattern.compile("\\s+");

    static List<Workflow> all() {
        return Repository.files(".yml").stream()
                .filter(file -> file.startsWith(FOLDER))
                .map(Workflow::of)
                .toList();
    }

    static Workflow named(String name) {
        return of(FOLDER.resolve(name + ".yml"));
    }

    private static Workflow of(Path file) {
        return new Workflow(file, read(file));
    }

    /** Any YAML of the project. A key that is there twice is refused. */
    static Map<?, ?> read(Path file) {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        return new Yaml(new SafeConstructor(options)).load(Repository.read(file));
    }

    Map<?, ?> jobs() {
        return (Map<?, ?>) content.get("jobs");
    }

    Map<?, ?> job(String name) {
        return (Map<?, ?>) jobs().get(name);
    }

    /** The values of one dimension of a job's matrix; with {@code include}, a map for each combination. */
    List<?> matrix(String job, String dimension) {
        Map<?, ?> strategy = (Map<?, ?>) job(job).get("strategy");
        return (List<?>) ((Map<?, ?>) strategy.get("matrix")).get(dimension);
    }

    /** The command of each step that has one, in words. */
    List<List<String>> commands() {
        return steps("run").map(it -> List.of(WORDS.split(it, -1))).toList();
    }

    /** The actions of others, such as {@code actions/checkout@0123}. */
    List<String> actions() {
        return steps("uses").toList();
    }

    private Stream<String> steps(String key) {
        List<String> found = new ArrayList<>();
        for (Object job : jobs().values()) {
            for (Object step : (List<?>) ((Map<?, ?>) job).get("steps")) {
                Object value = ((Map<?, ?>) step).get(key);
                if (value != null) {
                    found.add(value.toString().strip());
                }
            }
        }
        return found.stream();
    }

    @Override
    public String toString() {
        return file.getFileName().toString();
    }
}
