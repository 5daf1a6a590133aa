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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages claim what a test shows: here, that there is such a test. */
class NamedTestsTest {

    /** Tests by their usual endings, and races. */
    private static final Pattern NAMED = Pattern.compile("`(\\w+(?:Test|IT|Contract)|\\w+Against\\w+)(?:\\.(\\w+))?`");

    private static final Map<String, List<Path>> SOURCES = Repository.sources().stream()
            .collect(groupingBy(
                    file -> file.getFileName().toString().replace(".java", ""), mapping(file -> file, toList())));

    @ParameterizedTest
    @ValueSource(strings = {"docs/guarantees.md", "docs/guarantees-races.md", "docs/operations.md"})
    void everyTestThatThePageNamesExists(String page) {
        List<MatchResult> named = NAMED.matcher(Repository.page(page)).results().toList();

        assertThat(named).isNotEmpty();
        assertThat(named.stream().filter(it -> !exists(it)).map(MatchResult::group))
                .as("named in %s, and not there", page)
                .isEmpty();
    }

    private static boolean exists(MatchResult named) {
        String method = named.group(2);
        return SOURCES.getOrDefault(named.group(1), List.of()).stream()
                .anyMatch(file -> method == null || Repository.read(file).contains("void " + method + "("));
    }
}
