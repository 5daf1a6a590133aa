package io.holdfast.zookeeper.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockKey;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class NodeNamesTest {

    static Stream<String> names() {
        return Stream.of(
                "a",
                ".",
                "..",
                "...",
                "/",
                "//",
                "a/b",
                "a/../b",
                "%2F",
                "a%2Fb",
                "zookeeper",
                "_",
                "a_b",
                " ",
                "\0",
                "\u001f",
                "\u007f",
                "\u009f",
                "\uf8ff",
                "\uffff",
                "🔒",
                "é",
                "e\u0301",
                "x".repeat(LockKey.MAX_NAME_BYTES),
                "é".repeat(LockKey.MAX_NAME_BYTES / 2),
                "/".repeat(LockKey.MAX_NAME_BYTES));
    }

    @ParameterizedTest
    @MethodSource("names")
    void everyNameIsOneNodeThatZooKeeperAccepts(String name) {
        String encoded = NodeNames.encode(name);
        assertThat(encoded).isNotEmpty().doesNotContain("/", ".", "_");
        PathUtils.validatePath("/locks/" + encoded);
    }

    @Test
    void noTwoNamesBecomeOne() {
        List<String> encoded = names().map(NodeNames::encode).toList();
        assertThat(encoded).doesNotHaveDuplicates();
    }

    @Test
    void usualNamesStayReadable() {
        assertThat(NodeNames.encode("orders-42")).isEqualTo("orders-42");
        assertThat(NodeNames.encode("stock/42")).isEqualTo("stock%2F42");
    }
}
