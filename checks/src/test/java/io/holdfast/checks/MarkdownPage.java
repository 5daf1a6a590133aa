package io.holdfast.checks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page of the documentation.
 *
 * @param name the path from the root of the repository
 */
record MarkdownPage(Path file, String name, List<String> lines) {

    private static final Pattern FENCE = Pattern.compile("(\\s*)(`{3,}|~{3,})\\s*(.*)");
    private static final Pattern HEADING = Pattern.compile("#{1,6}\\s+(.*?)\\s*#*\\s*");
    private static final Pattern ID = Pattern.compile("<[a-z]+ [^>]*\\b(?:id|name)=\"([^\"]+)\"");
    private static final Pattern LINKED = Pattern.compile("!?\\[([^\\]]*)\\](?:\\([^)]*\\)|\\[[^\\]]*\\])");

    static MarkdownPage of(Path file) {
        return new MarkdownPage(
                file,
                Repository.ROOT.relativize(file).toString(),
                Repository.read(file).lines().toList());
    }

    static List<MarkdownPage> all() {
        return Repository.files(".md").stream().map(MarkdownPage::of).toList();
    }

    /**
     * A block of code.
     *
     * @param info the text after the fence
     * @param line the number of its first line, from 1
     * @param indent the indent of the fence
     */
    record Block(String info, int line, int indent, List<String> lines) {

        String text() {
            return String.join("\n", lines) + "\n";
        }
    }

    List<Block> blocks() {
        List<Block> blocks = new ArrayList<>();
        Block open = null;
        String fence = "";
        for (int at = 0; at < lines.size(); at++) {
            Matcher matcher = FENCE.matcher(lines.get(at));
            if (open == null && matcher.matches()) {
                fence = matcher.group(2);
                open = new Block(
                        matcher.group(3).strip(), at + 2, matcher.group(1).length(), new ArrayList<>());
                blocks.add(open);
            } else if (open != null && lines.get(at).strip().equals(fence)) {
                open = null;
            } else if (open != null) {
                open.lines().add(withoutIndent(lines.get(at), open.indent()));
            }
        }
        return blocks;
    }

    private static String withoutIndent(String line, int indent) {
        return line.substring(
                Math.min(indent, line.length() - line.stripLeading().length()));
    }

    /** Returns the lines of the page, with an empty line for each line of code or of a comment. */
    List<String> prose() {
        List<String> prose = new ArrayList<>(lines);
        for (Block block : blocks()) {
            for (int at = block.line() - 2;
                    at <= block.line() - 1 + block.lines().size() && at < prose.size();
                    at++) {
                prose.set(at, "");
            }
        }
        boolean inComment = false;
        for (int at = 0; at < prose.size(); at++) {
            String line = prose.get(at);
            boolean begins = line.stripLeading().startsWith("<!--");
            if (inComment || begins) {
                prose.set(at, "");
                inComment = !line.contains("-->");
            }
        }
        return prose.stream()
                .map(it -> it.replaceAll("(`+)(?!`).*?(?<!`)\\1(?!`)", "``"))
                .toList();
    }

    /** Returns the anchors of the page, by the rule of GitHub. */
    Set<String> anchors() {
        Set<String> anchors = new HashSet<>();
        Map<String, Integer> seen = new HashMap<>();
        List<String> prose = prose();
        for (int at = 0; at < lines.size(); at++) {
            if (prose.get(at).isEmpty()) {
                continue;
            }
            Matcher heading = HEADING.matcher(lines.get(at));
            if (heading.matches()) {
                String anchor = anchor(heading.group(1));
                int before = seen.merge(anchor, 1, Integer::sum) - 1;
                anchors.add(before == 0 ? anchor : anchor + "-" + before);
            }
            ID.matcher(lines.get(at)).results().forEach(id -> anchors.add(id.group(1)));
        }
        return anchors;
    }

    static String anchor(String heading) {
        return LINKED.matcher(heading)
                .replaceAll("$1")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}\\p{M} _-]", "")
                .replace(' ', '-');
    }
}
