package io.holdfast.zookeeper.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NodeCheckTest {

    @Test
    void partsKeepTheOrderAndStayFarBelowTheLimitOfAPacket() {
        List<String> paths = IntStream.range(0, 2_000)
                .mapToObj(i -> "/holdfast/mutex/" + "%2F".repeat(512) + "/claim_m1_1_%010d".formatted(i))
                .toList();
        List<List<String>> parts = NodeCheck.parts(paths);
        assertThat(parts.stream().flatMap(List::stream)).containsExactlyElementsOf(paths);
        assertThat(parts)
                .allSatisfy(part -> assertThat(
                                part.stream().mapToInt(String::length).sum())
                        .isLessThanOrEqualTo(NodeCheck.MOST_CHARACTERS));
        assertThat(parts).hasSizeLessThan(30);
    }

    @Test
    void pathLongerThanTheLimitIsAPartOfItsOwn() {
        String path = "/" + "x".repeat(NodeCheck.MOST_CHARACTERS);
        assertThat(NodeCheck.parts(List.of("/a", path, "/b")))
                .containsExactly(List.of("/a"), List.of(path), List.of("/b"));
    }

    @Test
    void noPathsAreNoParts() {
        assertThat(NodeCheck.parts(List.of())).isEmpty();
    }
}
