package io.holdfast.r2dbc.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class LockTextTest {

    @Test
    void usualNameIsStoredAsItIs() {
        assertThat(LockText.name("stock/42 é 🔒 \\ ' \n")).isEqualTo("stock/42 é 🔒 \\ ' \n");
    }

    @Test
    void differentNamesStayDifferent() {
        List<String> names = List.of("a", "a\0", "a\u0001", "a\0010", "a\0011", "a\0\0", "a\u0001\0", "a0", "a1");
        Set<String> stored = names.stream().map(LockText::name).collect(Collectors.toSet());
        assertThat(stored).hasSameSizeAs(names).noneMatch(it -> it.contains("\0"));
        assertThat(names)
                .allSatisfy(name ->
                        assertThat(LockText.lockName(LockText.name(name))).isEqualTo(name));
    }
}
