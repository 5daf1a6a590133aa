package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The forge runs what can be run without it, on the servers and JDKs that the documentation names. */
class WorkflowsTest {

    private static final List<Workflow> WORKFLOWS = Workflow.all();

    private static final Path PAGE = Repository.ROOT.resolve("docs/reference/compatibility.md");
    private static final Path README = Repository.ROOT.resolve("README.md");

    /** A full hash, since a tag can be moved. */
    private static final Pattern PINNED = Pattern.compile("[\\w-]+/[\\w-]+@[0-9a-f]{40}");

    private static final Pattern VERSION_OF_PIN = Pattern.compile("@[0-9a-f]{40} # v\\d+\\.\\d+\\.\\d+\n");

    /** The server, the date of the last run, and what the forge runs. */
    private static final Pattern ROW =
            Pattern.compile("\\| (?<server>[A-Z]\\w+ [\\d.]+) \\| (?<date>[^|]+) \\| (?<forge>[^|]+) \\|");

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern NUMBER = Pattern.compile("\\d+(\\.\\d+)*");

    @Test
    void eachWorkflowHasFewRightsAndEndsInTime() {
        assertThat(WORKFLOWS).hasSizeGreaterThanOrEqualTo(3).allSatisfy(workflow -> {
            assertThat(workflow.content().get("permissions")).isEqualTo(Map.of("contents", "read"));
            assertThat(workflow.content().get("concurrency")).isNotNull();
            assertThat(workflow.jobs().values())
                    .extracting(job -> ((Map<?, ?>) job).get("timeout-minutes"))
                    .hasOnlyElementsOfType(Integer.class);
        });
    }

    @Test
    void eachActionIsPinnedByItsHashAndNamesItsVersion() {
        assertThat(WORKFLOWS).allSatisfy(workflow -> {
            assertThat(workflow.actions()).isNotEmpty().allMatch(PINNED.asMatchPredicate());
            assertThat(VERSION_OF_PIN.matcher(Repository.read(workflow.file())).results())
                    .hasSameSizeAs(workflow.actions());
        });
        assertThat(WORKFLOWS.stream().flatMap(it -> it.actions().stream()).distinct())
                .as("one version of each action")
                .hasSize((int) WORKFLOWS.stream()
                        .flatMap(it -> it.actions().stream())
                        .map(it -> it.substring(0, it.indexOf('@')))
                        .distinct()
                        .count());
    }

    @Test
    void eachStepCallsAScriptOfTheProject() {
        assertThat(WORKFLOWS)
                .allSatisfy(workflow -> assertThat(workflow.commands())
                        .isNotEmpty()
                        .allSatisfy(words -> {
                            assertThat(words.get(0)).startsWith("./");
                            assertThat(Repository.ROOT.resolve(words.get(0))).isExecutable();
                        }));
    }

    @Test
    void theBuildRunsOnTheVersionsOfJavaThatTheReadmeNames() {
        List<Integer> ofTheBuild = Workflow.named("build").matrix("default", "java").stream()
                .map(it -> (Integer) it)
                .sorted()
                .toList();

        assertThat(row(README, "Java"))
                .isEqualTo("%d to %d".formatted(ofTheBuild.get(0), ofTheBuild.get(ofTheBuild.size() - 1)));
        assertThat(numbers(row(PAGE, "Java")))
                .containsExactlyElementsOf(
                        ofTheBuild.stream().map(it -> it.toString()).toList());
    }

    @Test
    void theForgeRunsTheServersOfTheCompatibilityTable() {
        Set<String> ofTheForge = Workflow.named("servers").matrix("contract", "include").stream()
                .map(it -> Objects.toString(((Map<?, ?>) it).get("server")))
                .collect(Collectors.toCollection(TreeSet::new));

        Set<String> ofThePage = rows().flatMap(row -> CODE.matcher(row.group(3)).results())
                .map(code -> code.group(1))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(ofTheForge).hasSizeGreaterThan(5).isEqualTo(ofThePage);
    }

    /** Such as 7.0, for a row of 7.0.15. */
    @Test
    void theReadmeNamesTheServersThatTheContractHasPassedOn() {
        for (String store : List.of("Redis", "Valkey", "ZooKeeper")) {
            List<String> passed = rows().filter(row -> row.group(1).startsWith(store + " "))
                    .filter(row -> row.group(2).startsWith("20"))
                    .map(row -> row.group(1).replaceFirst("^\\w+ (\\d+\\.\\d+).*$", "$1"))
                    .distinct()
                    .toList();
            assertThat(numbers(row(README, store).replaceFirst(";.*", "")))
                    .as(store)
                    .isNotEmpty()
                    .containsExactlyElementsOf(passed);
        }
    }

    /** The update bot reports no error for a group that matches no dependency. */
    @Test
    void eachGroupOfTheUpdateBotHasADependency() {
        Map<?, ?> bot = Workflow.read(Repository.ROOT.resolve(".github/dependabot.yml"));
        String poms = Repository.files("pom.xml").stream().map(Repository::read).collect(Collectors.joining());
        Map<?, ?> maven = (Map<?, ?>) ((List<?>) bot.get("updates")).get(0);

        assertThat(((Map<?, ?>) maven.get("groups")).values())
                .hasSizeGreaterThan(5)
                .flatExtracting(group -> (List<?>) ((Map<?, ?>) group).get("patterns"))
                .allSatisfy(pattern -> assertThat(poms)
                        .contains("<groupId>" + pattern.toString().replaceFirst("(:.*|\\*)$", "")));
    }

    @Test
    void eachFormOfTheForgeIsReadable() {
        assertThat(Repository.files(".yml"))
                .filteredOn(file -> file.toString().contains("ISSUE_TEMPLATE") && !file.endsWith("config.yml"))
                .hasSizeGreaterThan(2)
                .allSatisfy(file ->
                        assertThat(Workflow.read(file).keySet().toArray()).contains("name", "description", "body"));
        assertThat(Files.exists(Repository.ROOT.resolve(".github/pull_request_template.md")))
                .isTrue();
    }

    private static Stream<MatchResult> rows() {
        return ROW.matcher(Repository.read(PAGE)).results();
    }

    private static List<String> numbers(String text) {
        return NUMBER.matcher(text).results().map(MatchResult::group).toList();
    }

    /** The second cell of the row that begins with this word. */
    private static String row(Path page, String first) {
        return Repository.read(page)
                .lines()
                .filter(line -> line.startsWith("| " + first + " |"))
                .map(line -> line.split("\\|", -1)[2].strip())
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row of " + first + " in " + page));
    }
}
