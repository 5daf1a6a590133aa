package io.holdfast.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of log lines has the log lines of the library. */
class LogLinesPageTest {

    private static final String PAGE = Repository.page("docs/operate/log-lines.md");
    private static final List<String> SOURCES = Repository.librarySources();
    private static final String EVENT = "- `lock '{}'";
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    @Test
    void thePageHasEveryWarningAndErrorAndNoOther() {
        Pattern logged = Pattern.compile("(?:LOG\\.(?:warn|error)\\(|(?<=LOG,))\\s*(" + Repository.TEXT + ")");
        Set<String> lines = SOURCES.stream()
                .flatMap(source -> logged.matcher(source).results())
                .map(it -> Repository.joined(it.group(1)).replace("%s", "{}"))
                .filter(it -> !it.equals("{}")) // the sentence of an event
                .collect(Collectors.toSet());

        assertThat(rows("- `")
                        .filter(row -> !row.startsWith(EVENT))
                        .map(row -> codes(row).get(0))
                        .collect(Collectors.toSet()))
                .isEqualTo(lines);
    }

    @Test
    void theSentencesOfEventsAreThoseOfTheLog() {
        String sentences = Repository.joined(SOURCES.stream()
                        .filter(source -> source.contains("final class EventText"))
                        .findAny()
                        .orElseThrow())
                .replaceAll("%[sd]", "{}");

        List<String> told = rows(EVENT)
                .map(row -> codes(row).get(0).replace("lock '{}'", "").replace("{} ms", "{}"))
                .map(it -> it.endsWith(": {}") ? it.substring(0, it.length() - "{}".length()) : it)
                .toList();
        assertThat(told).hasSize(4).allSatisfy(it -> assertThat(sentences).contains(it));
    }

    private static Stream<String> rows(String beginning) {
        return PAGE.lines().filter(line -> line.startsWith(beginning));
    }

    private static List<String> codes(String row) {
        return CODE.matcher(row).results().map(it -> it.group(1)).toList();
    }
}
