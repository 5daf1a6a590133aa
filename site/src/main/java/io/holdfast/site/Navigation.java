package io.holdfast.site;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** All pages in the order in which people read them: that of {@code docs/README.md}, and then the pages that it does not list. */
final class Navigation {

    private static final String README = "README.md";
    static final String CONTENTS = "docs/README.md";

    /**
     * A page.
     *
     * @param children the other pages of its folder, if the page is the README of the folder
     */
    private record Entry(Page page, List<Page> children) {

        Stream<Page> pages() {
            return Stream.concat(Stream.of(page), children.stream());
        }
    }

    private record Group(String title, List<Entry> entries) {}

    private final List<Group> groups = new ArrayList<>();

    private Navigation() {}

    static Navigation of(Source source) {
        Navigation navigation = new Navigation();
        Page contents = source.page(CONTENTS);
        List<Section> parts = contents.sections().stream()
                .filter(section -> section.level() == 2)
                .toList();
        Set<String> unlisted = new TreeSet<>(source.pages().keySet());
        unlisted.removeAll(Set.of(Front.PATH, README, CONTENTS));
        parts.forEach(part -> unlisted.removeAll(part.mentions()));

        navigation.groups.add(new Group(
                "Overview",
                Stream.of(
                                source.page(Front.PATH).withLabel("Front page"),
                                source.page(README).withLabel("README"),
                                contents)
                        .map(page -> new Entry(page, List.of()))
                        .toList()));
        for (Section part : parts) {
            String title = part.heading().split(":", 2)[0];
            List<Entry> entries = part.mentions().stream()
                    .map(path -> entry(source, path, unlisted))
                    .toList();
            navigation.groups.add(new Group(title, entries));
        }
        List<Entry> project = new ArrayList<>();
        while (!unlisted.isEmpty()) {
            String path = unlisted.iterator().next();
            boolean unused = unlisted.remove(path);
            project.add(entry(source, path, unlisted));
        }
        navigation.groups.add(new Group("Project", project));
        return navigation;
    }

    /** Takes the children of the page from the unlisted ones: first those that it names, in its order. */
    private static Entry entry(Source source, String path, Set<String> unlisted) {
        Page page = source.page(path);
        Set<String> children = new LinkedHashSet<>();
        page.sections().forEach(section -> children.addAll(section.mentions()));
        children.addAll(unlisted);
        children.removeIf(it -> !unlisted.contains(it) || !page.leads(it));
        unlisted.removeAll(children);
        return new Entry(page, children.stream().map(source::page).toList());
    }

    List<Page> order() {
        return groups.stream()
                .flatMap(group -> group.entries().stream())
                .flatMap(Entry::pages)
                .toList();
    }

    /** What the template shows beside this page. */
    List<Map<String, Object>> groups(Page current) {
        return groups.stream()
                .map(group -> Map.<String, Object>of(
                        "title",
                        group.title(),
                        "entries",
                        group.entries().stream()
                                .map(entry -> entry(current, entry))
                                .toList()))
                .toList();
    }

    /** A page shows its children while one of them is open, or the page itself. */
    private static Map<String, Object> entry(Page current, Entry entry) {
        List<Page> shown = entry.pages().anyMatch(current::equals) ? entry.children() : List.of();
        return Map.of(
                "link",
                link(current, entry.page()),
                "children",
                shown.stream().map(child -> link(current, child)).toList());
    }

    static Map<String, Object> link(Page from, Page to) {
        return Map.of("href", from.relative(to.address()), "title", to.label(), "current", to.equals(from));
    }
}
