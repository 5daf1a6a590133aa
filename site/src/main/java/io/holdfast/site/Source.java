package io.holdfast.site;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.ListItem;
import org.commonmark.node.Node;

/**
 * The pages of the repository: each file whose name ends with {@code .md}, but not those of an archive; and the front page.
 *
 * @param pages by their paths
 */
record Source(Path root, Map<String, Page> pages, Links links) {

    private static final Set<String> NOT_SOURCES = Set.of("target", "node_modules", "archive");

    /**
     * Reads all pages, with their links as the site has them.
     *
     * @param forge the address where the forge shows files
     */
    static Source read(Path root, String forge) throws IOException {
        Map<String, Node> documents = new TreeMap<>();
        for (Path file : files(root)) {
            String path = root.relativize(file).toString().replace('\\', '/');
            documents.put(path, Markdown.parse(Files.readString(file)));
        }
        Node tabs = Objects.requireNonNull(documents.remove(Front.TABS));
        Node unused = documents.put(
                Front.PATH, Front.document(Markdown.parse(Files.readString(root.resolve("README.md"))), tabs));
        Links links = new Links(documents.keySet(), forge);
        Map<String, Page> pages = new TreeMap<>();
        Set<String> labels = new HashSet<>();
        documents.forEach((path, document) -> {
            Page page = Page.of(path, document, links);
            // In a list of pages the part before a colon is enough, if no other page has it. The number of a record is
            // not.
            String label = page.title().replaceFirst("^(\\D[^:]*): .*", "$1");
            pages.put(path, labels.add(label) ? page.withLabel(label) : page);
        });
        return new Source(root, pages, links);
    }

    private static List<Path> files(Path root) throws IOException {
        List<Path> files = new ArrayList<>();
        Path unused = Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = folder.getFileName().toString();
                boolean skipped = !folder.equals(root) && (NOT_SOURCES.contains(name) || name.startsWith("."));
                return skipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(".md")) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
    }

    /** What the list of all pages says about each, by the address of the page. */
    Map<String, String> descriptions() throws IOException {
        Map<String, String> descriptions = new HashMap<>();
        Markdown.parse(Files.readString(root.resolve(Navigation.CONTENTS))).accept(new AbstractVisitor() {
            @Override
            public void visit(ListItem item) {
                links.pages(Navigation.CONTENTS, item).stream().limit(1).forEach(path -> {
                    String unused = descriptions.put(Page.address(path), Markdown.text(item));
                });
            }
        });
        return descriptions;
    }

    Page page(String path) {
        Page page = pages.get(path);
        if (page == null) {
            throw new IllegalStateException("no page " + path);
        }
        return page;
    }
}
