package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No jar contains the time, the machine or the user of its build. The release build checks that two builds give the same bytes.
 */
class JarTest {

    static List<PublishedModule> published() {
        return Repository.published();
    }

    @ParameterizedTest
    @MethodSource("published")
    void everyEntryHasTheTimeThatThePomStates(PublishedModule module) {
        LocalDateTime stated = OffsetDateTime.parse(
                        Repository.pom().required("properties/project.build.outputTimestamp"))
                .toLocalDateTime();

        for (String classifier : List.of("", "-sources")) {
            List<ZipEntry> entries = PublishedModule.entries(module.jar(classifier));
            assertThat(entries).extracting(ZipEntry::getTimeLocal).containsOnly(stated);
            assertThat(entries)
                    .extracting(ZipEntry::getName)
                    .contains("META-INF/LICENSE")
                    .doesNotHaveDuplicates();
        }
    }

    @ParameterizedTest
    @MethodSource("published")
    void theManifestSaysNothingOfTheMachine(PublishedModule module) throws IOException {
        try (JarFile jar = new JarFile(module.jar().toFile())) {
            assertThat(jar.getManifest().getMainAttributes().keySet().stream()
                            .map(Object::toString)
                            .collect(Collectors.toSet()))
                    .containsExactlyInAnyOrder(
                            Attributes.Name.MANIFEST_VERSION.toString(),
                            "Created-By",
                            "Java-Version",
                            "Build-Jdk-Spec",
                            "Automatic-Module-Name");
            assertThat(jar.getManifest().getMainAttributes().getValue("Created-By"))
                    .startsWith("Maven JAR Plugin");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"name", "description"})
    void everyPomSaysWhatItIs(String element) {
        assertThat(Repository.published())
                .allSatisfy(it -> assertThat(it.pom().required(element)).hasSizeGreaterThan(5));
    }
}
