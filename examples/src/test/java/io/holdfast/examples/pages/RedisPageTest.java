package io.holdfast.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The build tests the lines that operators copy from the page about Redis. */
class RedisPageTest {

    private static final String PAGE = Repository.page("docs/operate/redis.md");

    @Test
    void theUserOfThePageIsThatOfTheTests() {
        assertThat(PAGE).contains("ACL SETUSER locks on >secret " + tried("RedisErrorsIT") + "\n");
    }

    @Test
    void theOperatorOfThePageIsThatOfTheTests() {
        assertThat(PAGE).contains("ACL SETUSER lock-operator on >secret " + tried("RedisLockInspectorIT") + "\n");
    }

    private static String tried(String test) {
        return Repository.sources().stream()
                .filter(file -> file.endsWith(test + ".java"))
                .map(file -> Pattern.compile("(?:DOCUMENTED_)?ACL =\\s*(" + Repository.TEXT + ")")
                        .matcher(Repository.read(file)))
                .filter(Matcher::find)
                .map(it -> Repository.joined(it.group(1)).replace("on nopass ", ""))
                .findAny()
                .orElseThrow();
    }
}
