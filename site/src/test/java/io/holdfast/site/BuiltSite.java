package io.holdfast.site;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;

/** The site that this build has made. */
final class BuiltSite {

    static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
    static final Path ROOT = Path.of("target/site").toAbsolutePath();

    /** The newest version comes first. */
    static final List<String> VERSIONS =
            read(REPOSITORY.resolve("site/versions.txt")).lines().toList();

    static final Path VERSION = ROOT.resolve(VERSIONS.get(0));

    private BuiltSite() {}

    static List<Path> pages() {
        return files(VERSION, ".html");
    }

    static List<Path> files(Path folder, String suffix) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(it -> it.toString().endsWith(suffix)).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Document page(Path file) {
        return Jsoup.parse(read(file), file.toUri().toString());
    }

    static Document page(String address) {
        return page(VERSION.resolve(address));
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
