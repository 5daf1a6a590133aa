package io.holdfast.redis.internal.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LuaScriptTest {

    private static final Pattern COMMAND = Pattern.compile("(?:call|try|take|read)\\('([A-Z]+)'");

    @Test
    void commentsAreNotSent() {
        String text = """
                -- Says what it is.
                -- Says more.

                local dashes = '--' -- a comment behind a string
                if dashes == "-- no comment" then
                  return '' -- another
                end
                """;
        assertThat(LuaScript.compact(text)).isEqualTo("""
                -- Says what it is.
                local dashes = '--'
                if dashes == "-- no comment" then
                return ''
                end
                """);
    }

    /** A user with the documented rights meets a missing one only on the way that needs it, which may be rare. */
    @ParameterizedTest
    @ValueSource(strings = {"lock", "renew", "still_held", "inspect"})
    void eachCommandIsAmongTheDocumentedRights(String script) throws IOException {
        String page = Files.readString(Path.of("../docs/operate/redis.md"));
        List<String> commands = COMMAND.matcher(LuaScript.load(script).body())
                .results()
                .map(it -> it.group(1).toLowerCase(Locale.ROOT))
                .distinct()
                .toList();

        assertThat(commands).isNotEmpty().allSatisfy(it -> assertThat(page).containsPattern("\\+" + it + "\\b"));
    }

    @Test
    void partsOfPartsAreIncluded() {
        assertThat(LuaScript.load("lock").body())
                .contains("local function take_out(")
                .doesNotContain("#include");
    }
}
