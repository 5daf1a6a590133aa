package io.holdfast.redis.internal.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LuaScriptTest {

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

    @Test
    void partsOfPartsAreIncluded() {
        List<LuaScript> all = List.of(
                LuaScript.load("mutex"),
                LuaScript.load("mutex"),
                LuaScript.load("shared_acquire"),
                LuaScript.load("shared_release"));
        assertThat(all)
                .allSatisfy(script -> assertThat(script.body())
                        .contains("local function take_out(")
                        .doesNotContain("#include"));
    }
}
