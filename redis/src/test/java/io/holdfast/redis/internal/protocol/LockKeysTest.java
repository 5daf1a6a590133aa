package io.holdfast.redis.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.redis.internal.script.ScriptArgs;
import io.holdfast.redis.internal.script.ScriptArgsTest;
import io.holdfast.spi.LockKey;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockKeysTest {

    private static LockKeys mutex(String prefix, String name) {
        return LockKeys.of(prefix, LockKey.of(LockKind.MUTEX, name));
    }

    @Test
    void nameIsTheHashTagOfEveryKey() {
        LockKeys keys = mutex("app:", "orders/7");
        assertThat(scriptKeys(keys))
                .isEqualTo(keys.inspected())
                .containsExactly(
                        "app:{orders/7}:mutex",
                        "app:{orders/7}:mutex:queue",
                        "app:{orders/7}:mutex:claims",
                        "app:{orders/7}:mutex:held",
                        "app:{orders/7}:mutex:gone",
                        "app:{orders/7}:mutex:interest",
                        "app:{orders/7}:mutex:aside");
    }

    @Test
    void readersAndWritersShareTheirKeysAndRenewWhatEachOfThemHas() {
        LockKey reader = LockKey.of(LockKind.READ, "orders/7");
        LockKey writer = LockKey.of(LockKind.WRITE, "orders/7");
        LockKeys reading = LockKeys.of("app:", reader);
        assertThat(reading).isEqualTo(LockKeys.of("app:", writer));
        assertThat(scriptKeys(reading)).hasSize(7).startsWith("app:{orders/7}:rw", "app:{orders/7}:rw:queue");
        assertThat(renewed(reading, reader)).containsExactly("app:{orders/7}:rw:claims", "app:{orders/7}:rw:held");
        assertThat(renewed(reading, writer)).containsExactly("app:{orders/7}:rw");
    }

    private static List<String> renewed(LockKeys keys, LockKey claimed) {
        ScriptArgs renewed = new ScriptArgs(16);
        keys.writeRenewed(renewed, claimed);
        return ScriptArgsTest.sent(renewed);
    }

    @ParameterizedTest
    @EnumSource
    void kindIsReadBackFromTheKey(LockKind kind) {
        LockKeys keys = LockKeys.of("p:", LockKey.of(kind, "a}:mutex"));
        assertThat(LockKeys.parse(keys.holder())).isEqualTo(keys);
        assertThat(keys.lockName()).isEqualTo("a}:mutex");
    }

    @Test
    void permitsDoNotMakeAnotherLock() {
        assertThat(LockKeys.of("p:", new LockKey(LockKind.SEMAPHORE, "a", 3)))
                .isEqualTo(LockKeys.of("p:", new LockKey(LockKind.SEMAPHORE, "a", 5)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "{", "}", "{}", "{a}b", "%", "%7B", "%25", "}:mutex", " a", "a b", "🔒", "a:mutex:queue"})
    void nameIsReadBackFromTheKey(String name) {
        LockKeys keys = mutex("p:", name);
        assertThat(keys.lockName()).isEqualTo(name);
        assertThat(LockKeys.parse(keys.holder())).isEqualTo(keys);
        assertThat(keys.holder().chars().filter(c -> c == '{' || c == '}'))
                .as("one tag")
                .hasSize(2);
    }

    @Test
    void differentNamesHaveDifferentKeys() {
        List<String> names = List.of("a", "{a}", "%7Ba%7D", "a:mutex", "a}:mutex", "%257Ba", "{a");
        Set<String> keys = new HashSet<>();
        names.forEach(name -> keys.addAll(scriptKeys(mutex("p:", name))));
        assertThat(keys).hasSize(7 * names.size());
    }

    /** Returns the KEYS of a script, after it has checked their number. */
    private static List<String> scriptKeys(LockKeys keys) {
        ScriptArgs args = new ScriptArgs(16);
        keys.writeAll(args);
        List<String> sent = ScriptArgsTest.sent(args);
        assertThat(sent.get(0)).isEqualTo(Integer.toString(sent.size() - 1));
        return sent.subList(1, sent.size());
    }
}
