package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Checks the files of a release, which {@code -Prelease} has written into a repository in a folder. */
class ReleaseRehearsal {

    private static final String FOLDER = "target/release-rehearsal/io/holdfast";
    private static final Path RELEASE = Repository.ROOT.resolve(FOLDER);

    @TempDir
    private Path folder;

    @Test
    void everyModuleIsThereWithSourcesJavadocAndSbomAndNothingElseIs() throws IOException {
        Set<String> expected = new TreeSet<>(Set.of(
                "holdfast-parent.pom",
                "holdfast-parent-cyclonedx.json",
                "holdfast-bom.pom",
                "holdfast-bom-cyclonedx.json"));
        for (PublishedModule module : Repository.published()) {
            expected.add(module.artifact() + ".pom");
            expected.add(module.artifact() + ".jar");
            expected.add(module.artifact() + "-sources.jar");
            expected.add(module.artifact() + "-javadoc.jar");
            expected.add(module.artifact() + "-cyclonedx.json");
        }

        assertThat(files(RELEASE).keySet()).isEqualTo(expected);
    }

    /** A library that only an optional one brings may count as required there. */
    @Test
    void theSbomOfAModuleListsItsRunTimeLibrariesWithTheirLicences() throws IOException {
        Map<String, Path> files = files(RELEASE);

        assertThat(Repository.published()).allSatisfy(module -> {
            Sbom sbom = Sbom.of(files.get(module.artifact() + "-cyclonedx.json"));
            assertThat(sbom.required())
                    .containsAll(Dependency.of(module).stream()
                            .filter(it -> !it.optional())
                            .map(it -> it.name() + ":" + it.version())
                            .toList());
            assertThat(sbom.licences().values()).allMatch(licence -> !licence.isEmpty());
        });
    }

    @Test
    void noPomOfAModuleNeedsAnotherOne() throws IOException {
        Map<String, Path> poms = files(RELEASE);
        poms.keySet().removeIf(it -> !it.endsWith(".pom") || it.equals("holdfast-parent.pom"));

        assertThat(poms).hasSize(Repository.published().size() + 1);
        poms.forEach((name, file) -> {
            Pom pom = Pom.of(file);
            assertThat(pom.children("parent")).as(name).isEmpty();
            assertThat(Repository.read(file).replace("${project.version}", ""))
                    .as(name)
                    .doesNotContain("${");
            assertThat(pom.children("dependencies/dependency")).as(name).allSatisfy(it -> {
                assertThat(it.required("version")).isNotBlank();
                assertThat(it.text("scope").orElse("compile")).isNotEqualTo("test");
            });
            for (String element : List.of(
                    "name",
                    "description",
                    "url",
                    "licenses/license/name",
                    "developers/developer/name",
                    "scm/url",
                    "issueManagement/url")) {
                assertThat(pom.required(element)).as(name + ": " + element).isNotBlank();
            }
        });
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void anApplicationWithTheBomRunsWithAllClassesMovedToAnotherPackage() throws Exception {
        copy(Repository.ROOT.resolve("checks/src/test/application"), folder);
        Pom ours = Repository.pom();
        Files.writeString(
                folder.resolve("pom.xml"),
                Repository.read(folder.resolve("pom.xml"))
                        .replace("HOLDFAST_VERSION", ours.required("version"))
                        .replace("COMPILER_VERSION", ours.required("properties/maven-compiler-plugin.version"))
                        .replace("JAR_VERSION", ours.required("properties/maven-jar-plugin.version"))
                        .replace("SHADE_VERSION", ours.required("properties/maven-shade-plugin.version"))
                        .replace(
                                "REPOSITORY",
                                RELEASE.getParent().getParent().toUri().toString()));
        Wrapper.build(folder, "package");

        assertThat(Command.run(
                        folder,
                        Map.of(),
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        "target/application-1.jar",
                        "Application"))
                .contains("5 parts of com.example.shaded.holdfast");
    }

    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void aSecondBuildElsewhereHasTheSameBytes() throws Exception {
        Path elsewhere = folder.resolve("elsewhere");
        copy(Repository.ROOT, elsewhere);
        String modules = Stream.concat(
                        Stream.of("bom"), Repository.published().stream().map(PublishedModule::folder))
                .collect(Collectors.joining(","));

        String output = Command.run(
                elsewhere,
                Map.of("TZ", "Asia/Kathmandu", "LC_ALL", "C"),
                elsewhere.resolve("mvnw").toString(),
                "-B",
                "-ntp",
                "-q",
                "-Prelease",
                "-DskipTests",
                "-DskipITs",
                "-Dspotless.check.skip",
                "-pl",
                modules,
                "-am",
                "verify");

        Map<String, Path> second = files(elsewhere.resolve(FOLDER));
        Map<String, Path> first = files(RELEASE);
        assertThat(second.keySet()).as(output).isEqualTo(first.keySet());
        List<String> different = new ArrayList<>();
        for (Map.Entry<String, Path> it : first.entrySet()) {
            if (Files.mismatch(it.getValue(), second.get(it.getKey())) != -1) {
                different.add(it.getKey());
            }
        }
        assertThat(different).isEmpty();
    }

    /** Returns the files of the repository, by names without version, and without signatures and checksums. */
    private static Map<String, Path> files(Path repository) throws IOException {
        Map<String, Path> found = new TreeMap<>();
        try (Stream<Path> all = Files.walk(repository)) {
            for (Path file : all.filter(it -> it.toString().matches(".*\\.(jar|json|pom)"))
                    .sorted()
                    .toList()) {
                String artifact = file.getParent().getParent().getFileName().toString();
                String name = file.getFileName().toString();
                String rest = name.substring(artifact.length())
                        .replaceFirst("^-.*?(?=(-sources|-javadoc|-cyclonedx)?\\.(jar|json|pom)$)", "");
                found.put(artifact + rest, file);
            }
        }
        return found;
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes unused) throws IOException {
                String name = directory.getFileName().toString();
                if (Set.of("target", ".git").contains(name)) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(to.resolve(from.relativize(directory).toString()));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes unused) throws IOException {
                Files.copy(file, to.resolve(from.relativize(file).toString()), StandardCopyOption.COPY_ATTRIBUTES);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
