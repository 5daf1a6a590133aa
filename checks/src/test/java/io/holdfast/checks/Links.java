package io.holdfast.checks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Checks the targets of the links of a page, without the network. */
final class Links {

    private static final Pattern INLINE = Pattern.compile("\\]\\(\\s*<?([^)\\s>]+)>?(?:\\s+\"[^\"]*\")?\\s*\\)");
    private static final Pattern DEFINITION = Pattern.compile("^\\s{0,3}\\[([^\\]]+)\\]:\\s*<?(\\S+?)>?(?:\\s+.*)?$");
    private static final Pattern REFERENCE = Pattern.compile("\\]\\[([^\\]]+)\\]");
    private static final Pattern HTML = Pattern.compile("\\b(?:href|src)=\"([^\"]+)\"");
    private static final Pattern ELSEWHERE = Pattern.compile("^(?:https?|mailto):.*");

    private Links() {}

    /** Returns a message for each broken link. */
    static List<String> broken(MarkdownPage page) {
        List<String> broken = new ArrayList<>();
        List<String> prose = page.prose();
        Set<String> defined = prose.stream()
                .flatMap(it -> DEFINITION.matcher(it).results())
                .map(it -> it.group(1).toLowerCase(Locale.ROOT))
                .collect(Collectors.toSet());
        for (int at = 0; at < prose.size(); at++) {
            for (String problem : broken(page, defined, prose.get(at))) {
                broken.add(page.name() + ":" + (at + 1) + ": " + problem);
            }
        }
        return broken;
    }

    private static List<String> broken(MarkdownPage page, Set<String> defined, String line) {
        List<String> broken = new ArrayList<>();
        for (String target : targets(line)) {
            String problem = problem(page, target);
            if (!problem.isEmpty()) {
                broken.add(target + " " + problem);
            }
        }
        REFERENCE
                .matcher(line)
                .results()
                .map(it -> it.group(1))
                .filter(it -> !defined.contains(it.toLowerCase(Locale.ROOT)))
                .forEach(it -> broken.add("[" + it + "] is not defined"));
        return broken;
    }

    private static List<String> targets(String line) {
        List<String> targets = new ArrayList<>();
        INLINE.matcher(line).results().forEach(it -> targets.add(it.group(1)));
        DEFINITION.matcher(line).results().forEach(it -> targets.add(it.group(2)));
        HTML.matcher(line).results().forEach(it -> targets.add(it.group(1)));
        return targets;
    }

    private static String problem(MarkdownPage page, String target) {
        if (ELSEWHERE.matcher(target).matches()) {
            return "";
        }
        String[] parts = target.split("#", 2);
        if (parts[0].isEmpty()) {
            return withoutHeading(page, parts[1]);
        }
        Path file = page.file().resolveSibling(parts[0]).normalize();
        if (!file.startsWith(Repository.ROOT)) {
            return "is not in the repository";
        }
        if (!Files.exists(file)) {
            return "does not exist";
        }
        boolean namesHeading = parts.length == 2 && file.toString().endsWith(".md");
        return namesHeading ? withoutHeading(MarkdownPage.of(file), parts[1]) : "";
    }

    private static String withoutHeading(MarkdownPage page, String anchor) {
        return page.anchors().contains(anchor) ? "" : "names no heading of " + page.name();
    }
}
