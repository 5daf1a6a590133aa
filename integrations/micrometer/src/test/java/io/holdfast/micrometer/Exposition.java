package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text that Prometheus reads: the series and their labels. */
final class Exposition {

    private static final Pattern SAMPLE = Pattern.compile("(\\w+)\\{(.*)} \\S+");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

    private final List<String> lines;

    /** Maps the name of a series to its labels, and each label to its values. */
    private final Map<String, Map<String, Set<String>>> series = new HashMap<>();

    Exposition(String text) {
        lines = text.lines().toList();
        for (String line : lines) {
            if (!line.startsWith("#")) {
                Matcher sample = SAMPLE.matcher(line);
                assertThat(sample.matches()).as(line).isTrue();
                LABEL.matcher(sample.group(2))
                        .results()
                        .forEach(label -> labels(sample.group(1))
                                .computeIfAbsent(label.group(1), it -> new HashSet<>())
                                .add(label.group(2)));
            }
        }
    }

    private Map<String, Set<String>> labels(String name) {
        return series.computeIfAbsent(name, it -> new HashMap<>());
    }

    /** Maps the name of a series to its labels, and each label to its values. */
    Map<String, Map<String, Set<String>>> series() {
        return series;
    }

    /** Returns name and type of all families of series. */
    List<String> types() {
        return comments("# TYPE ");
    }

    /** Returns the shortest name with this description: a timer has more than one. */
    String nameOf(String description) {
        return comments("# HELP ").stream()
                .filter(it -> it.endsWith(" " + description))
                .map(it -> it.substring(0, it.indexOf(' ')))
                .min(String::compareTo)
                .orElseThrow();
    }

    private List<String> comments(String kind) {
        return lines.stream()
                .filter(it -> it.startsWith(kind))
                .map(it -> it.substring(kind.length()).strip())
                .sorted()
                .toList();
    }
}
