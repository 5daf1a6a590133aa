package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;

/** The list has every library that comes to a user's class path. */
class LicencesTest {

    private static final PublishedModule PROGRAM =
            new PublishedModule("cli", Pom.of(Repository.ROOT.resolve("cli/pom.xml")));

    private static final String HEAD = """
            # Licences

            Holdfast is under the [Apache License 2.0](../../LICENSE).

            These libraries come with its modules at run time, under licences of their own, as their poms state them. The names are those of SPDX. The build
            fails if one is missing here. `holdfast-spring-boot-starter` also brings what the back end needs that the application adds. `cli` is the program,
            whose jar has its libraries in it, and their licences in `META-INF/licences`. Nothing is copied into the other jars of Holdfast.
            """;

    private static List<PublishedModule> modules() {
        return Stream.concat(Repository.published().stream(), Stream.of(PROGRAM))
                .toList();
    }

    /** The libraries of a module with their licences. Offline, the plugin that makes it does nothing, and says so. */
    private static Sbom sbom(String module) {
        Path file = Repository.ROOT.resolve(module).resolve("target/licences.json");
        assumeTrue(Files.exists(file), file + " is made only if Maven is online");
        return Sbom.of(file);
    }

    /** Other licences require their texts, with the copyright lines, beside the libraries. That of Reactive Streams does not. */
    @Test
    void theProgramHasTheLicencesOfItsLibraries() {
        List<String> entries = PublishedModule.entries(PROGRAM.path().resolve("target/holdfast.jar")).stream()
                .map(ZipEntry::getName)
                .toList();
        assertThat(entries).contains("META-INF/LICENSE", "META-INF/NOTICE").doesNotHaveDuplicates();
        Sbom sbom = sbom("cli");
        assertThat(Dependency.of(PROGRAM))
                .filteredOn(it -> !it.isOurs() && !sbom.licence(it).matches("Apache-2\\.0( or .*)?|MIT-0"))
                .hasSizeGreaterThan(3)
                .allSatisfy(it -> assertThat(entries)
                        .as(it.name())
                        .anyMatch(entry -> entry.startsWith("META-INF/licences/" + it.artifact() + "/LICENSE")));
    }

    @Test
    void everyLibraryThatComesAtRunTimeIsListedWithItsLicence() throws IOException {
        Sbom ofTheProgram = sbom("cli");
        Sbom ofAllOthers = sbom("checks");
        Map<String, String> licences = new TreeMap<>();
        Map<String, Set<String>> modules = new TreeMap<>();
        for (PublishedModule module : modules()) {
            Sbom sbom = module.equals(PROGRAM) ? ofTheProgram : ofAllOthers;
            for (Dependency it : Dependency.of(module)) {
                if (!it.isOurs() && !it.optional()) {
                    licences.putIfAbsent(it.name(), sbom.licence(it));
                    modules.computeIfAbsent(it.name(), name -> new TreeSet<>())
                            .add("`" + module.artifact().replace("holdfast-", "") + "`");
                }
            }
        }
        Map<String, Map<String, Set<String>>> groups = new TreeMap<>(); // by modules, then by licence
        modules.forEach((name, with) -> groups.computeIfAbsent(
                        with.contains("`core`") ? "" : String.join(", ", with), it -> new TreeMap<>())
                .computeIfAbsent(licences.get(name), it -> new TreeSet<>())
                .add("`" + name + "`"));
        StringBuilder text = new StringBuilder(HEAD);
        groups.forEach((with, libraries) -> {
            text.append("%nWith %s:%n%n".formatted(with.isEmpty() ? "all modules" : with));
            libraries.forEach(
                    (licence, names) -> text.append("- %s: %s%n".formatted(licence, String.join(", ", names))));
        });

        Repository.assertUpToDate(
                Repository.ROOT.resolve("docs/reference/licences.md"), text.toString(), "LicencesTest");
    }
}
