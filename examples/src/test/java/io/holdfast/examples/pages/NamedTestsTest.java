package io.holdfast.examples.pages;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages name tests for their claims. Each named test exists. */
class NamedTestsTest {

    /** The names of tests by their usual endings, and races. {@code WAIT} is a command. */
    private static final Pattern NAMED =
            Pattern.compile("`(\\w+(?:Test|[a-z]IT|Contract)|\\w+Against\\w+)(?:\\.(\\w+))?`");

    private static final Map<String, List<Path>> SOURCES = Repository.sources().stream()
            .collect(groupingBy(
                    file -> file.getFileName().toString().replace(".java", ""), mapping(file -> file, toList())));

    @ParameterizedTest
    @ValueSource(strings = {"docs/trust/evidence.md", "docs/trust/races.md", "docs/contribute/redis-script-cost.md"})
    void everyTestThatAPageNamesExists(String page) {
        List<MatchResult> named = NAMED.matcher(Repository.page(page)).results().toList();

        assertThat(named).isNotEmpty();
        assertThat(named.stream().filter(it -> !exists(it)).map(MatchResult::group))
                .as("%s names it, but it does not exist", page)
                .isEmpty();
    }

    /** No claim may be without tests. */
    @Test
    void eachSectionOfFaultsHasItsEvidence() {
        List<String> faults = headings("docs/trust/guarantees.md").stream()
                .filter(heading -> !List.of("What holding means", "At a glance").contains(heading))
                .toList();

        assertThat(faults).hasSize(11);
        assertThat(headings("docs/trust/evidence.md")).containsSubsequence(faults);
    }

    private static List<String> headings(String page) {
        return Repository.page(page)
                .lines()
                .filter(line -> line.startsWith("## "))
                .map(line -> line.substring("## ".length()))
                .toList();
    }

    private static boolean exists(MatchResult named) {
        String method = named.group(2);
        return SOURCES.getOrDefault(named.group(1), List.of()).stream()
                .anyMatch(file -> method == null || Repository.read(file).contains("void " + method + "("));
    }
}
