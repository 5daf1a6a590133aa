package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The files of the project, below its root folder. */
final class Repository {

    static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    private static final Set<String> NOT_SOURCES = Set.of("target", ".git", ".idea", "node_modules");

    /** If this property is set, a check writes the expected file instead of comparing it. */
    private static final boolean REWRITE = Boolean.getBoolean("holdfast.rewrite");

    private Repository() {}

    static List<Path> files(String suffix) {
        try (Stream<Path> all = Files.find(
                ROOT, 12, (file, it) -> it.isRegularFile() && file.toString().endsWith(suffix))) {
            return all.filter(Repository::isSource).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Pom pom() {
        return Pom.of(ROOT.resolve("pom.xml"));
    }

    static List<PublishedModule> published() {
        List<PublishedModule> published = pom().modules().stream()
                .map(folder ->
                        new PublishedModule(folder, Pom.of(ROOT.resolve(folder).resolve("pom.xml"))))
                .filter(module -> module.pom().text("packaging").isEmpty())
                .filter(module ->
                        module.pom().text("properties/maven.deploy.skip").isEmpty())
                .toList();
        assertThat(published).hasSizeGreaterThan(5);
        return published;
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Compares a file with the expected text, or writes it. */
    static void assertUpToDate(Path file, String content, String test) throws IOException {
        if (REWRITE) {
            Files.writeString(file, content);
        }
        assertThat(Files.exists(file) ? read(file) : "")
                .as(
                        "%s is not up to date. If what changed is meant, say so in CHANGELOG.md, run%n%n"
                                + "  ./mvnw -B -ntp -q -pl checks -am package -Dfast -Dtest=%s -Dholdfast.rewrite=true%n%n"
                                + "and commit the file",
                        ROOT.relativize(file), test)
                .isEqualTo(content);
    }

    private static boolean isSource(Path file) {
        for (Path part : ROOT.relativize(file)) {
            if (NOT_SOURCES.contains(part.toString())) {
                return false;
            }
        }
        return true;
    }
}
