package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MutexKeysTest {

    @Test
    void nameIsTheHashTagOfEveryKey() {
        assertThat(MutexKeys.of("app:", "orders/7").all("id1"))
                .containsExactly(
                        "app:{orders/7}:mutex",
                        "app:{orders/7}:mutex:queue",
                        "app:{orders/7}:mutex:waiters",
                        "app:{orders/7}:mutex:token",
                        "app:{orders/7}:mutex:gone:id1",
                        "app:{orders/7}:mutex:interest");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "{", "}", "{}", "{a}b", "%", "%7B", "%25", "}:mutex", " ", "a b", "🔒", "a:mutex:queue"})
    void nameIsReadBackFromTheKey(String name) {
        MutexKeys keys = MutexKeys.of("p:", name);
        assertThat(keys.lockName()).isEqualTo(name);
        assertThat(MutexKeys.isHolderKey(keys.holder())).isTrue();
        assertThat(keys.holder().chars().filter(c -> c == '{' || c == '}'))
                .as("one tag")
                .hasSize(2);
    }

    @Test
    void differentNamesHaveDifferentKeys() {
        List<String> names = List.of("a", "{a}", "%7Ba%7D", "a:mutex", "a}:mutex", "%257Ba", "{a");
        Set<String> keys = new HashSet<>();
        names.forEach(name -> keys.addAll(MutexKeys.of("p:", name).all("x")));
        assertThat(keys).hasSize(6 * names.size());
    }
}
