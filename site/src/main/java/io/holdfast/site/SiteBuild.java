package io.holdfast.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes the site: all pages of one version, and the files at the root that all versions share. */
public final class SiteBuild {

    private static final List<String> ASSETS = List.of("site.css", "site.js", "search.js", "theme.js");

    private static final Map<String, Object> NONE = Map.of();

    private final Path output;
    private final String version;
    private final String siteUrl;
    private final Source source;
    private final Templates templates = new Templates();

    private SiteBuild(Path output, String version, String siteUrl, Source source) {
        this.output = output;
        this.version = version;
        this.siteUrl = siteUrl;
        this.source = source;
    }

    /**
     * Makes the site.
     *
     * @param arguments the folder of the repository, the folder to write to, the version, the address of the site, and the address
     *     where the forge shows files
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] arguments) throws IOException {
        Source source = Source.read(Path.of(arguments[0]), arguments[4]);
        new SiteBuild(Path.of(arguments[1]), arguments[2], arguments[3], source).write();
    }

    private void write() throws IOException {
        List<String> versions = versions();
        Navigation navigation = Navigation.of(source);
        List<Page> order = navigation.order();
        for (int at = 0; at < order.size(); at++) {
            Page page = order.get(at);
            Map<String, Object> values = new HashMap<>(values(page));
            values.put("groups", navigation.groups(page));
            values.put("previous", at == 0 ? NONE : Navigation.link(page, order.get(at - 1)));
            values.put("next", at + 1 == order.size() ? NONE : Navigation.link(page, order.get(at + 1)));
            write(version + "/" + page.address(), templates.render("page.html", values));
        }
        for (String picture : source.links().pictures()) {
            Path copy = file(version + "/" + picture);
            Path unused = Files.copy(source.root().resolve(picture), copy, StandardCopyOption.REPLACE_EXISTING);
        }
        for (String asset : ASSETS) {
            write(version + "/" + asset, Resource.read(SiteBuild.class, asset));
        }
        write(version + "/lunr.js", SearchIndex.library());
        write(
                version + "/search-index.js",
                SearchIndex.of(
                        order.stream()
                                .filter(page -> !page.path().equals(Front.PATH))
                                .flatMap(page -> page.sections().stream())
                                .toList(),
                        source.descriptions()));
        write("versions.js", templates.render("versions.js", Map.of("versions", versions)));
        write("index.html", templates.render("root.html", Map.of("newest", versions.get(0), "siteUrl", siteUrl)));
    }

    /** The newest one first. */
    private List<String> versions() throws IOException {
        List<String> versions = Files.readAllLines(source.root().resolve("site/versions.txt")).stream()
                .map(String::strip)
                .filter(it -> !it.isEmpty())
                .toList();
        if (!versions.contains(version)) {
            throw new IllegalStateException("site/versions.txt does not have this version: " + version);
        }
        return versions;
    }

    private Map<String, Object> values(Page page) {
        return Map.of(
                "title", page.title(),
                "label", page.label(),
                "lead", page.lead(),
                "body", page.body(),
                "contents", page.contents(),
                "root", "../".repeat(page.depth()),
                "front", page.path().equals(Front.PATH),
                "version", version,
                "canonical", siteUrl + "/" + version + "/" + page.address());
    }

    private void write(String path, String content) throws IOException {
        Path unused = Files.writeString(file(path), content);
    }

    private Path file(String path) throws IOException {
        Path file = output.resolve(path);
        Path unused = Files.createDirectories(file.resolveSibling("."));
        return file;
    }
}
