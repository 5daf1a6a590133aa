package io.holdfast.site;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.commonmark.node.Heading;
import org.commonmark.node.Node;
import org.commonmark.node.Paragraph;

/**
 * A page of the site.
 *
 * @param path of its source in the repository
 * @param body its HTML
 * @param label its name in lists of pages
 * @param lead the text of its first paragraph
 */
record Page(
        String path,
        String body,
        String title,
        String label,
        String lead,
        List<Section> sections,
        List<Section> contents) {

    /** With more sections than this, the list beside the page has only those of the second level. */
    private static final int LONG = 30;

    static Page of(String path, Node document, Links links) {
        Anchors anchors = new Anchors();
        List<Section> sections = new ArrayList<>();
        Map<Node, String> ids = new HashMap<>();
        String address = address(path);
        String title = "";
        String lead = "";
        Section section = section(address, "", "", "", 1);
        for (Node node = document.getFirstChild(); node != null; node = node.getNext()) {
            if (node instanceof Heading heading) {
                String text = Markdown.text(heading);
                title = title.isEmpty() ? text : title;
                String anchor = anchors.of(text);
                section = section(address, title, text, anchor, heading.getLevel());
                sections.add(section);
                ids.put(heading, anchor);
            } else {
                section.text().append(Markdown.text(node)).append(' ');
                node.accept(new ExplainedNames(section.names()));
                section.mentions().addAll(links.pages(path, node));
                lead = lead.isEmpty() && node instanceof Paragraph ? Markdown.text(node) : lead;
            }
        }
        ids.forEach((heading, anchor) -> Markdown.link((Heading) heading, anchor));
        links.rewrite(path, document);
        Markdown.prepare(document);
        String body = Markdown.html(document, ids);
        return new Page(path, body, title, title, lead, sections, contents(sections));
    }

    private static Section section(String address, String title, String heading, String anchor, int level) {
        return new Section(
                address,
                title,
                heading,
                anchor,
                level,
                new StringBuilder(),
                new StringBuilder(),
                new LinkedHashSet<>());
    }

    private static List<Section> contents(List<Section> sections) {
        List<Section> all = sections.stream()
                .filter(it -> it.level() == 2 || it.level() == 3)
                .toList();
        return all.size() <= LONG
                ? all
                : all.stream().filter(it -> it.level() == 2).toList();
    }

    Page withLabel(String other) {
        return new Page(path, body, title, other, lead, sections, contents);
    }

    static String address(String path) {
        return switch (path) {
            case Front.PATH -> "index.html";
            case "README.md" -> "readme.html";
            default -> addressOfOthers(path);
        };
    }

    private static String addressOfOthers(String path) {
        return path.replaceAll("(^|/)README\\.md$", "$1index.html").replaceAll("\\.md$", ".html");
    }

    /** In the folder of the version. */
    String address() {
        return address(path);
    }

    /** How many folders it is below that of the version. */
    int depth() {
        return path.split("/", -1).length - 1;
    }

    String relative(String address) {
        return Links.relative(path, address);
    }

    /** A page that is named README is the first of its folder. */
    boolean leads(String other) {
        return path.endsWith("/README.md") && other.startsWith(path.substring(0, path.length() - "README.md".length()));
    }
}
