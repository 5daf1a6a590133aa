package io.holdfast.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The page about exceptions quotes the messages of the library. */
class ExceptionsPageTest {

    private static final String PAGE = Repository.page("docs/reference/exceptions.md");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    @Test
    void thePageNamesEveryExceptionAndEveryReason() {
        assertThat(LockException.class.getPermittedSubclasses())
                .allSatisfy(kind -> assertThat(PAGE).contains("\n## " + kind.getSimpleName() + "\n"));
        assertThat(LossReason.values()).allSatisfy(reason -> assertThat(PAGE).contains("| `" + reason + "` | "));
    }

    @Test
    void theQuotedPartsAreInMessagesOfTheLibrary() {
        String messages = Repository.librarySources().stream()
                .flatMap(source ->
                        Pattern.compile(Repository.TEXT).matcher(source).results())
                .map(it -> Repository.joined(it.group()))
                .collect(Collectors.joining("\n"));
        String table = PAGE.substring(PAGE.indexOf("| the message has |"), PAGE.indexOf("\n## LockQueueFullException"));

        List<String> parts = table.lines()
                .skip(2)
                .filter(line -> line.startsWith("|"))
                .flatMap(row -> CODE.matcher(row.split("\\|", -1)[1]).results())
                .map(it -> it.group(1))
                .toList();
        assertThat(parts)
                .hasSizeGreaterThan(30)
                .allSatisfy(part -> assertThat(messages).contains(part));
    }
}
