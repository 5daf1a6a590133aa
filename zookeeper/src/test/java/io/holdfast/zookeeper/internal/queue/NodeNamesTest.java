package io.holdfast.zookeeper.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

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

    private static String name(LockKey key, int number) {
        LockClaim claim = LockClaim.first(key, "c" + number + "@orders:h:1", Duration.ofSeconds(30), Waiting.QUEUE);
        return QueueNode.prefix(claim, 0x1a2b) + "%010d".formatted(number);
    }

    @Test
    void labelIsNotInTheNameOfANode() {
        assertThat(name(LockKey.of(LockKind.MUTEX, "orders"), 3)).isEqualTo("c3_m1_1a2b_0000000003");
    }

    @ParameterizedTest
    @ValueSource(strings = {"orders", "stock/42", "é%41_", "🔒", "\0\n", "a-b"})
    void namesAreReadBack(String name) {
        assertThat(NodeNames.decode(NodeNames.encode(name))).contains(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a_b", "%4", "%zz", "%41", "é"})
    void foreignNodesHaveNoName(String node) {
        assertThat(NodeNames.decode(node)).isEmpty();
    }
}
