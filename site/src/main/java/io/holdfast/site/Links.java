package io.holdfast.site;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;

/** Where the links of the pages lead on the site. */
final class Links {

    private static final Pattern ELSEWHERE = Pattern.compile("(?:[a-z]+:|#).*");
    private static final Pattern PICTURE = Pattern.compile(".*\\.(?:svg|png|jpe?g|gif)");

    private final Set<String> pages;
    private final String forge;
    private final Set<String> pictures = new TreeSet<>();

    /**
     * @param pages their paths in the repository
     * @param forge the address where the forge shows files. If its host is a placeholder, the site has no links to files.
     */
    Links(Set<String> pages, String forge) {
        this.pages = pages;
        this.forge = isPlaceholder(forge) ? "" : forge;
    }

    private static boolean isPlaceholder(String address) {
        String host = URI.create(address).getHost();
        return host == null || host.endsWith(".example");
    }

    /** The pictures that the pages show or link to, by their paths in the repository. They have the same paths on the site. */
    Set<String> pictures() {
        return pictures;
    }

    void rewrite(String page, Node document) {
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                visitChildren(link);
                String target = target(page, link.getDestination());
                if (target.isEmpty()) {
                    Markdown.unwrap(link);
                } else {
                    link.setDestination(target);
                }
            }

            @Override
            public void visit(Image image) {
                image.setDestination(target(page, image.getDestination()));
            }
        });
    }

    /** The paths of the pages that links below this node lead to. */
    List<String> pages(String page, Node node) {
        List<String> found = new ArrayList<>();
        node.accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                String path = path(page, link.getDestination());
                if (pages.contains(path)) {
                    found.add(path);
                }
            }
        });
        return found;
    }

    /** In the repository. */
    private static String path(String page, String destination) {
        return ELSEWHERE.matcher(destination).matches()
                ? ""
                : Path.of(page)
                        .resolveSibling(destination.split("#", 2)[0])
                        .normalize()
                        .toString()
                        .replace('\\', '/');
    }

    /** Empty where the site cannot lead to it. */
    String target(String page, String destination) {
        if (ELSEWHERE.matcher(destination).matches()) {
            return destination;
        }
        String[] parts = destination.split("#", 2);
        String anchor = parts.length == 2 ? "#" + parts[1] : "";
        String path = path(page, destination);
        if (pages.contains(path)) {
            return relative(page, Page.address(path)) + anchor;
        }
        if (PICTURE.matcher(path).matches()) {
            pictures.add(path);
            return relative(page, path);
        }
        return forge.isEmpty() ? "" : forge + "/" + path + anchor;
    }

    static String relative(String page, String address) {
        Path from = Path.of("/" + page).resolveSibling(".").normalize();
        return from.relativize(Path.of("/" + address)).toString().replace('\\', '/');
    }
}
