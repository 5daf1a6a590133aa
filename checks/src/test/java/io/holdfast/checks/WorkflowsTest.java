package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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

    /** A kind of server, its versions, and the date of the last run. */
    private static final Pattern ROW = Pattern.compile("\\| (\\w+) \\| ([\\d., ]+) \\| (20[-\\d]+|not run) \\|");

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

    /** Such as {@code redis:8} for Redis 8.0.2. */
    @Test
    void theForgeRunsServersOfTheCompatibilityTable() {
        List<String> ofTheForge = Workflow.named("servers").matrix("contract", "include").stream()
                .map(it -> (Map<?, ?>) it)
                .map(it -> it.get("store").equals("zookeeper") ? "zookeeper:" + it.get("server") : it.get("server"))
                .map(it -> Objects.toString(it).replaceFirst("^.*/", "").replaceFirst("^postgres:", "postgresql:"))
                .toList();
        List<String> ofThePage = rows().flatMap(row ->
                        numbers(row.group(2)).stream().map(it -> row.group(1).toLowerCase(Locale.ROOT) + ":" + it))
                .toList();

        assertThat(ofTheForge)
                .hasSizeGreaterThan(5)
                .allSatisfy(server -> assertThat(ofThePage).anyMatch(it -> (it + ".").startsWith(server + ".")));
    }

    /** Such as 7.0, for 7.0.15. */
    @Test
    void theReadmeNamesTheServersThatTheContractHasPassedOn() {
        for (String store : List.of("Redis", "Valkey", "ZooKeeper")) {
            List<String> passed = rows().filter(
                            row -> row.group(1).equals(store) && row.group(3).startsWith("20"))
                    .flatMap(row -> numbers(row.group(2)).stream())
                    .map(it -> it.replaceFirst("^(\\d+\\.\\d+).*$", "$1"))
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
