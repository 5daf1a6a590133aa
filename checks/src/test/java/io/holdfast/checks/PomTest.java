package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PomTest {

    /** The BOM as users get it. */
    private static final Pom BOM = Pom.of(Repository.ROOT.resolve("bom/target/flattened-pom.xml"));

    @Test
    void theBomListsEveryPublishedModule() {
        String version = Repository.pom().required("version");

        assertThat(BOM.children("dependencyManagement/dependencies/dependency"))
                .extracting(it -> it.required("groupId") + ":" + it.required("artifactId"))
                .containsExactlyInAnyOrderElementsOf(Repository.published().stream()
                        .map(it -> "io.holdfast:" + it.artifact())
                        .toList());
        assertThat(BOM.children("dependencyManagement/dependencies/dependency"))
                .extracting(it -> it.required("version").replace("${project.version}", version))
                .containsOnly(version);
    }

    /** Users would inherit the versions of a parent. */
    @Test
    void theBomHasNoParentAndNothingElse() {
        assertThat(BOM.children("parent")).isEmpty();
        assertThat(BOM.children("dependencies")).isEmpty();
        assertThat(BOM.children("dependencyManagement")).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "groupId",
                "version",
                "name",
                "description",
                "url",
                "licenses/license/name",
                "licenses/license/url",
                "developers/developer/name",
                "scm/connection",
                "scm/developerConnection",
                "scm/url",
                "issueManagement/url"
            })
    void thePomsHaveTheElementsThatARepositoryRequires(String element) {
        assertThat(BOM.required(element)).isNotBlank().doesNotContain("${");
        assertThat(Repository.pom().required(element)).isNotBlank();
    }

    @Test
    void everyModuleHasADescriptionAndInheritsTheRest() {
        assertThat(Repository.published()).allSatisfy(module -> {
            assertThat(module.pom().required("name")).startsWith("Holdfast");
            assertThat(module.pom().required("description")).hasSizeGreaterThan(20);
            for (String element : List.of("groupId", "version", "url", "licenses", "developers", "scm")) {
                assertThat(module.pom().children(element)).isEmpty();
            }
        });
    }
}
