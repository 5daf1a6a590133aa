package io.holdfast.examples.pages;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads the files of this project. */
final class Repository {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    /** A pattern without an alternative for each character: each would need a stack frame, and a text may be long. */
    private static final String LITERAL = "\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"";

    /** String literals that the compiler joins. */
    static final String TEXT = LITERAL + "(?:\\s*\\+\\s*" + LITERAL + ")*";

    private Repository() {}

    static String page(String path) {
        return read(ROOT.resolve(path));
    }

    /** Returns the README and the pages below docs, by their paths. */
    static Map<String, String> pages() {
        try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of(ROOT.resolve("README.md")), files)
                    .filter(file -> file.toString().endsWith(".md"))
                    .collect(Collectors.toMap(
                            file -> ROOT.relativize(file).toString().replace('\\', '/'), Repository::read));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns all Java sources, except generated ones. */
    /** Leaves out what a build makes: files come and go there while other tests run. */
    static List<Path> sources() {
        List<Path> found = new ArrayList<>();
        try {
            Path unused = Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                    return folder.endsWith("target") || folder.endsWith(".git")
                            ? FileVisitResult.SKIP_SUBTREE
                            : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    if (file.toString().endsWith(".java")) {
                        found.add(file);
                    }
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    /** Returns the sources of the library, without tests, examples, benchmarks and the site. */
    static List<String> librarySources() {
        return sources().stream()
                .filter(file -> {
                    String path = ROOT.relativize(file).toString().replace('\\', '/');
                    return path.contains("src/main/")
                            && Stream.of("examples", "benchmarks", "races", "site", "testkit", "proof")
                                    .noneMatch(path::startsWith);
                })
                .map(Repository::read)
                .toList();
    }

    /** Returns the text of an expression of literals. */
    static String joined(String literals) {
        return Pattern.compile(LITERAL)
                .matcher(literals)
                .results()
                .map(MatchResult::group)
                .map(it -> it.substring(1, it.length() - 1).translateEscapes())
                .collect(Collectors.joining());
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
