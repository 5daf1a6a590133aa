package io.holdfast.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the guide to operations quotes is what the library says. */
class OperationsPageTest {

    private static final String PAGE = Repository.page("docs/operations.md");
    private static final List<String> SOURCES = Repository.librarySources();
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    @Test
    void itHasEveryWarningAndErrorThatIsLoggedAndNoOther() {
        Pattern logged = Pattern.compile("LOG\\.(?:warn|error)\\(\\s*(" + Repository.TEXT + ")");
        Set<String> lines = SOURCES.stream()
                .flatMap(source -> logged.matcher(source).results())
                .map(it -> Repository.joined(it.group(1)))
                .filter(it -> !it.equals("{}")) // the sentence of an event
                .collect(Collectors.toSet());

        assertThat(rows("| `io.holdfast.").map(row -> codes(row).get(1)).collect(Collectors.toSet()))
                .isEqualTo(lines);
    }

    @Test
    void itsSentencesOfEventsAreThoseOfTheLog() {
        String sentences = Repository.joined(SOURCES.stream()
                        .filter(source -> source.contains("final class EventText"))
                        .findAny()
                        .orElseThrow())
                .replaceAll("%[sd]", "{}");

        List<String> told = rows("| `lock '{}'")
                .map(row -> codes(row).get(0).replace("lock '{}'", "").replace("{} ms", "{}"))
                .map(it -> it.endsWith(": {}") ? it.substring(0, it.length() - "{}".length()) : it)
                .toList();
        assertThat(told).hasSize(4).allSatisfy(it -> assertThat(sentences).contains(it));
    }

    @Test
    void itsMetersAreThoseOfTheReadme() {
        assertThat(rows("| `holdfast.lock.").map(row -> codes(row).get(0)))
                .containsExactlyInAnyOrderElementsOf(Repository.page("README.md")
                        .lines()
                        .filter(line -> line.startsWith("| `holdfast.lock."))
                        .map(row -> codes(row).get(0))
                        .toList());
    }

    @Test
    void itsUserIsTheOneThatTheBuildTries() {
        String tried = Repository.sources().stream()
                .filter(file -> file.endsWith("RedisErrorsIT.java"))
                .map(file -> Pattern.compile("DOCUMENTED_ACL =\\s*(" + Repository.TEXT + ")")
                        .matcher(Repository.read(file)))
                .filter(Matcher::find)
                .map(it -> Repository.joined(it.group(1)).replace("on nopass ", ""))
                .findAny()
                .orElseThrow();

        assertThat(PAGE).contains("ACL SETUSER locks on >secret " + tried + "\n");
        assertThat(Repository.page("README.md").replaceAll("\\s+", " ")).contains(" " + tried + " ");
    }

    @Test
    void itNamesEveryExceptionAndEveryReason() {
        assertThat(LockException.class.getPermittedSubclasses())
                .allSatisfy(kind -> assertThat(PAGE).contains("### " + kind.getSimpleName() + "\n"));
        assertThat(LossReason.values()).allSatisfy(reason -> assertThat(PAGE).contains("| `" + reason + "` | "));
    }

    @Test
    void itsPartsOfMessagesAreInMessages() {
        String messages = SOURCES.stream()
                .flatMap(source ->
                        Pattern.compile(Repository.TEXT).matcher(source).results())
                .map(it -> Repository.joined(it.group()))
                .collect(Collectors.joining("\n"));
        String table = PAGE.substring(PAGE.indexOf("| the message has |"), PAGE.indexOf("### LockClosedException"));

        List<String> parts = table.lines()
                .skip(2)
                .filter(line -> line.startsWith("|"))
                .flatMap(row -> codes(row.split("\\|", -1)[1]).stream())
                .toList();
        assertThat(parts)
                .hasSizeGreaterThan(30)
                .allSatisfy(part -> assertThat(messages).contains(part));
    }

    private static Stream<String> rows(String beginning) {
        return PAGE.lines().filter(line -> line.startsWith(beginning));
    }

    private static List<String> codes(String row) {
        return CODE.matcher(row).results().map(it -> it.group(1)).toList();
    }
}
