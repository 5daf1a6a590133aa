package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The default build and the profile `full` select the tests by the names of their classes. Together they run all tests. */
class EveryTestRunsTest {

    /** The patterns, which plugins match against paths. The unit tests run in both builds. */
    private static final String UNIT_TESTS = "**/*Test.java";

    private static final Pattern BACK_END =
            Pattern.compile("public final class (\\w+)(?:<[^>]*>)? implements LockBackend\\b");
    private static final Pattern LEFT_OUT =
            Pattern.compile("<(skipITs|skipTests|maven\\.test\\.skip|excludes|excludedGroups|groups|includes)>");

    /** The plugins whose includes and excludes are entries of jars. */
    private static final Pattern PACKING = Pattern.compile(
            "(?s)<plugin>((?!</plugin>).)*<artifactId>maven-(dependency|shade)-plugin</artifactId>.*?</plugin>");

    /** The exceptions. A test runs the first without JUnit: the contract over wrong back ends. The second runs with -Prelease. */
    private static final List<String> RUN_BY_OTHERS = List.of("MutatedMemory", "ReleaseRehearsal");

    private static final List<TestSource> SOURCES = TestSource.all();
    private static final Pom POM = Repository.pom();

    private static String ofTheDefaultBuild() {
        return UNIT_TESTS + "," + POM.required("properties/holdfast.its");
    }

    private static String ofTheFullBuild() {
        Pom full = POM.children("profiles/profile").stream()
                .filter(profile -> profile.required("id").equals("full"))
                .findFirst()
                .orElseThrow();
        return UNIT_TESTS + "," + full.required("properties/holdfast.its");
    }

    @Test
    void theFullBuildRunsEveryTestClass() {
        assertThat(SOURCES)
                .filteredOn(TestSource::hasTests)
                .hasSizeGreaterThan(200)
                .filteredOn(source -> !source.matches(ofTheFullBuild()))
                .extracting(TestSource::name)
                .as("not named *Test or *IT")
                .containsExactlyInAnyOrderElementsOf(RUN_BY_OTHERS);
    }

    @Test
    void everyModuleWithTestsIsBuilt() {
        assertThat(SOURCES).extracting(TestSource::module).isSubsetOf(POM.modules());
    }

    /** The tests of redis against servers run in redis/it, those of redlock in redlock/tests, those of testkit in testkit/tests. */
    @Test
    void noModuleLeavesTestsOut() {
        assertThat(POM.modules())
                .filteredOn(module -> LEFT_OUT.matcher(
                                PACKING.matcher(Repository.read(pom(module))).replaceAll(""))
                        .find())
                .containsExactlyInAnyOrder("redis", "redis/it", "redlock", "redlock/tests", "testkit", "testkit/tests");
    }

    /** The tests of these modules against servers run in another module. {@code skipTests} alone does not skip them. */
    @Test
    void noTestRunsTwice() {
        assertThat(List.of("redis", "redlock"))
                .allSatisfy(module -> assertThat(Pom.of(pom(module)).required("properties/skipITs"))
                        .isEqualTo("true"));
    }

    private static Path pom(String module) {
        return Repository.ROOT.resolve(module).resolve("pom.xml");
    }

    @Test
    void theDefaultBuildRunsTheContractOfEachBackEnd() {
        List<String> backEnds = Repository.published().stream()
                .flatMap(module -> Repository.files(".java").stream()
                        .filter(file -> file.startsWith(module.path().resolve("src/main/java"))))
                .flatMap(file -> BACK_END.matcher(Repository.read(file)).results())
                .map(it -> it.group(1))
                .toList();

        assertThat(backEnds)
                .hasSizeGreaterThanOrEqualTo(4)
                .allSatisfy(backEnd -> assertThat(contracts(backEnd))
                        .as("tests of the default build that run the contract over %s", backEnd)
                        .anyMatch(name -> name.endsWith(backEnd.startsWith("InMemory") ? "Test" : "IT")));
    }

    private static Stream<String> contracts(String backEnd) {
        Pattern named = Pattern.compile("\\b" + backEnd + "\\b");
        return SOURCES.stream()
                .filter(source -> source.isContract() && source.hasTests())
                .filter(source -> source.matches(ofTheDefaultBuild()))
                .filter(source -> named.matcher(source.text()).find())
                .map(TestSource::name);
    }
}
