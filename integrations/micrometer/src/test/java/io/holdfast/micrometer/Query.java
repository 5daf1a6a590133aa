package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The names in a query in the language of Prometheus: series, labels and values. */
record Query(String text) {

    private static final Pattern SELECTOR = Pattern.compile("\\b(holdfast_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)(?:=~|!=|!~|=)\"([^\"]*)\"");
    private static final Pattern GROUPING = Pattern.compile("\\bby \\(([^)]*)\\)");
    private static final Pattern TEMPLATE = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?(\\w+) ?}}");

    /** The labels that Prometheus adds. */
    private static final Set<String> OF_THE_SCRAPE = Set.of("job", "instance");

    /** Maps the name of a series to its matchers. */
    private Stream<Map.Entry<String, String>> selectors() {
        return SELECTOR.matcher(text)
                .results()
                .map(it -> Map.entry(it.group(1), it.group(2) == null ? "" : it.group(2)));
    }

    Set<String> series() {
        return selectors().map(Map.Entry::getKey).collect(Collectors.toSet());
    }

    /** Returns the labels of the result. */
    List<String> grouping() {
        return GROUPING.matcher(text)
                .results()
                .flatMap(it -> Arrays.stream(it.group(1).split(", ", -1)))
                .distinct()
                .toList();
    }

    /** Checks that all names of the query exist. */
    void isAnsweredBy(Exposition exposition) {
        assertThat(series())
                .as(text)
                .isNotEmpty()
                .isSubsetOf(exposition.series().keySet());
        selectors().forEach(it -> matches(exposition.series().get(it.getKey()), it.getValue()));
        for (String name : series()) {
            assertThat(grouping())
                    .as(text)
                    .allMatch(label -> OF_THE_SCRAPE.contains(label)
                            || exposition.series().get(name).containsKey(label));
        }
    }

    private void matches(Map<String, Set<String>> labels, String matchers) {
        Matcher each = MATCHER.matcher(matchers);
        while (each.find()) {
            String label = each.group(1);
            if (!OF_THE_SCRAPE.contains(label)) {
                assertThat(labels).as(text).containsKey(label);
            }
            if (!each.group(2).startsWith("$")) {
                assertThat(labels.get(label)).as(text).contains(each.group(2).split("\\|", -1));
            }
        }
    }

    /** Checks that each label in a text is a label of the result. */
    void gives(String template) {
        assertThat(TEMPLATE.matcher(template).results().map(it -> it.group(1)))
                .as("%s of %s", template, text)
                .isSubsetOf(grouping());
    }
}
