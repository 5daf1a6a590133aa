package io.holdfast.site;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.commonmark.node.Node;

/**
 * The pages of the repository: each file whose name ends with {@code .md}.
 *
 * @param pages by their paths
 */
record Source(Path root, Map<String, Page> pages, Links links) {

    private static final Set<String> NOT_SOURCES = Set.of("target", "node_modules");

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
        Links links = new Links(documents.keySet(), forge);
        Map<String, Page> pages = new TreeMap<>();
        Set<String> titles = new HashSet<>();
        documents.forEach((path, document) -> {
            Page page = Page.of(path, document, links);
            // Reports of benchmarks have one title in common. The name of the folder tells them apart.
            pages.put(path, titles.add(page.title()) ? page : page.withLabel(page.title() + ": " + folder(path)));
        });
        return new Source(root, pages, links);
    }

    private static String folder(String path) {
        String[] parts = path.split("/", -1);
        return parts[parts.length - 2];
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

    Page page(String path) {
        Page page = pages.get(path);
        if (page == null) {
            throw new IllegalStateException("no page " + path);
        }
        return page;
    }
}
