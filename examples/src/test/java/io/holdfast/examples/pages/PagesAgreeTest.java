package io.holdfast.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What several pages say is the same. The page about compatibility is the source for versions, and evidence for campaigns. */
class PagesAgreeTest {

    private static final String COMPATIBILITY = Repository.page("docs/reference/compatibility.md");
    private static final String POM = Repository.page("pom.xml");

    /** The name of a library as pages write it, and its property in the pom. */
    private static final Map<String, String> LIBRARIES = Map.of(
            "Spring Boot", "spring-boot",
            "Vert\\.x", "vertx",
            "Micrometer", "micrometer",
            "Reactor", "reactor",
            "Lettuce", "lettuce",
            "Curator", "curator");

    private static final String SERVER = "(Redis|Valkey|ZooKeeper|PostgreSQL|MariaDB|MySQL)";
    private static final String VERSION = "(\\d++(?:\\.\\d++)*+)";
    private static final Pattern CODE = Pattern.compile("^```.*?^```$", Pattern.DOTALL | Pattern.MULTILINE);

    /** Records tell of their day, and other libraries have versions of their own. */
    private static Map<String, String> pages() {
        return Repository.pages().entrySet().stream()
                .filter(it -> !it.getKey().contains("/records/")
                        && !it.getKey().contains("/migrating/")
                        && !it.getKey().endsWith("comparison.md"))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, (a, b) -> a, LinkedHashMap::new));
    }

    private static List<String> found(String pattern) {
        List<String> found = new ArrayList<>();
        pages().forEach((path, text) -> Pattern.compile(pattern)
                .matcher(text)
                .results()
                .forEach(it -> found.add("%s|%s|%s".formatted(path, it.group(1), it.group(2)))));
        return found;
    }

    private static Map<String, String> inCompatibility(String sentence) {
        MatchResult found = Pattern.compile(sentence)
                .matcher(COMPATIBILITY)
                .results()
                .findFirst()
                .orElseThrow();
        return Pattern.compile(SERVER + ' ' + VERSION)
                .matcher(found.group())
                .results()
                .collect(Collectors.toMap(it -> it.group(1), it -> it.group(2)));
    }

    /** A place as "page|name|version". */
    private static String[] parts(String place) {
        return place.split("\\|", -1);
    }

    @Test
    void allPagesNameTheSameOldestVersionsOfServers() {
        Map<String, String> oldest = inCompatibility("Redis [\\d.]+ is the oldest version");
        Map<String, String> databases = inCompatibility("PostgreSQL[^\\n]+are the oldest versions");

        assertThat(found("(?<!cluster of )" + SERVER + ' ' + VERSION + "(?=,? or (?:later|newer))"))
                .hasSizeGreaterThan(5)
                .allSatisfy(place -> assertThat(parts(place)[2])
                        .as(place)
                        .isEqualTo(oldest.getOrDefault(parts(place)[1], databases.get(parts(place)[1]))));
    }

    @Test
    void allPagesNameTheSameServersOfTheTests() {
        Map<String, String> tested = inCompatibility("(?s)The full build tests these on.+?\\.\n");
        assertThat(tested).hasSizeGreaterThan(3);

        assertThat(found("tests run on " + SERVER + ' ' + VERSION))
                .hasSizeGreaterThan(1)
                .allSatisfy(place -> assertThat(parts(place)[2]).as(place).isEqualTo(tested.get(parts(place)[1])));
    }

    /** The page about compatibility has all versions. A guide names those of its own subject only, and those of coordinates. */
    @Test
    void guidesNameNoVersionsOfOtherThings() {
        Pattern named = Pattern.compile("\\b(?:%s|(%s)) \\d".formatted(SERVER, String.join("|", LIBRARIES.keySet())));

        pages().forEach((path, text) -> {
            if (path.startsWith("docs/guides/") || path.startsWith("docs/start/")) {
                assertThat(named.matcher(CODE.matcher(text).replaceAll("")).results())
                        .as(path)
                        .allSatisfy(it -> assertThat(path)
                                .contains(it.group()
                                        .replaceAll(" \\d$", "")
                                        .toLowerCase(Locale.ROOT)
                                        .replace(' ', '-')));
            }
        });
    }

    /** Such as 30 s for the lease of all locks. */
    @Test
    void propertiesOfSpringBootHaveTheDefaultsOfTheirOptions() {
        Map<String, Set<String>> options = new HashMap<>(); // back ends have defaults of their own
        rows("docs/reference/options.md")
                .forEach(row ->
                        options.computeIfAbsent(row[1], it -> new HashSet<>()).add(row[2]));

        List<String> compared = new ArrayList<>();
        rows("docs/reference/spring-properties.md")
                .filter(row -> row[2].matches("\\d+ (s|h)|true|false|`.+`"))
                .forEach(row -> Pattern.compile("`holdfast\\.(?:[a-z0-9]+\\.)*([a-z-]+)`")
                        .matcher(row[1])
                        .results()
                        .forEach(it -> {
                            String option = '`' + camelCase(it.group(1)) + '`';
                            if (options.containsKey(option)) {
                                assertThat(options.get(option)).as(row[1]).contains(row[2]);
                                compared.add(option);
                            }
                        }));
        assertThat(compared).contains("`leaseDuration`", "`keyPrefix`", "`keepTokens`", "`claimTime`", "`root`");
    }

    /** The cells of the rows of all tables of a page. */
    private static Stream<String[]> rows(String path) {
        return Repository.page(path)
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.split(" *\\| *", -1));
    }

    private static String camelCase(String name) {
        return Pattern.compile("-(.)")
                .matcher(name)
                .replaceAll(it -> it.group(1).toUpperCase(Locale.ROOT));
    }

    /** Such as 4.1 or 4.1.1 for a build with 4.1.1, and not 4; or an older line of which the row says that it was tried. */
    @Test
    void allPagesNameTheVersionsOfLibrariesThatTheBuildUses() {
        LIBRARIES.forEach((library, property) -> {
            String ofTheBuild = Pattern.compile("<" + property + "\\.version>" + VERSION)
                    .matcher(POM)
                    .results()
                    .map(it -> it.group(1))
                    .findFirst()
                    .orElseThrow();
            List<String> row = Pattern.compile("\n\\| " + library + " \\| ([\\d., ]+) \\|")
                    .matcher(COMPATIBILITY)
                    .results()
                    .map(it -> List.of(it.group(1).split(", ", -1)))
                    .findFirst()
                    .orElseThrow();
            String newest = row.get(row.size() - 1);
            assertThat(ofTheBuild + '.').as(library).startsWith(newest + '.');
            assertThat(found("\\b(" + library + ") " + VERSION)).allSatisfy(place -> {
                String named = parts(place)[2];
                assertThat(row).as(place).anyMatch(line -> (named + '.').startsWith(line + '.'));
                if ((named + '.').startsWith(newest + '.')) {
                    assertThat(ofTheBuild + '.').as(place).startsWith(named + '.');
                }
            });
        });
    }

    @Test
    void pluginsAndParentsInGuidesAreThoseOfTheBuild() {
        String boot = Pattern.compile("<spring-boot\\.version>([^<]+)<")
                .matcher(POM)
                .results()
                .map(it -> it.group(1))
                .findFirst()
                .orElseThrow();
        assertThat(found(
                        "(spring-boot-maven-plugin|spring-boot-starter-parent</artifactId>\\s*<version)[:>]" + VERSION))
                .isNotEmpty()
                .allSatisfy(place -> assertThat(parts(place)[2]).as(place).isEqualTo(boot));
    }

    /** Campaigns get longer. Only one page has their figures. */
    @Test
    void onlyEvidenceSaysHowLongCampaignsTook() {
        Map<String, String> all = Repository.pages();
        assertThat(all).containsKey("docs/decide/comparison.md");
        all.forEach((path, text) -> {
            if (!path.contains("/records/") && !path.endsWith("evidence.md")) {
                assertThat(text.split("\n\n|\n- ", -1))
                        .as(path)
                        .filteredOn(paragraph -> paragraph.contains("campaign"))
                        .noneMatch(paragraph -> Pattern.compile("\\b(hours?|million|minutes)\\b")
                                .matcher(paragraph)
                                .find());
            }
        });
    }

    /** Such as 143 late writes. */
    @Test
    void figuresOfTheReportAreThoseOfTheEvidence() {
        String evidence = Repository.page("docs/trust/evidence.md");
        assertThat(Pattern.compile("\\d[\\d ]* (?:faults|grants|schedules|late writes)")
                        .matcher(Repository.page("docs/trust/report.md"))
                        .results()
                        .map(MatchResult::group))
                .hasSizeGreaterThan(3)
                .allSatisfy(figure -> assertThat(evidence).contains(figure));
    }

    @Test
    void allPagesSayWhenAHolderLearnsThatItsNodeInZooKeeperIsGone() {
        assertThat(List.of("docs/trust/guarantees.md", "docs/operate/zookeeper.md", "docs/operate/looking-in.md"))
                .allSatisfy(path -> assertThat(Repository.page(path)).contains("held the lock for more than 100 ms"));
    }
}
