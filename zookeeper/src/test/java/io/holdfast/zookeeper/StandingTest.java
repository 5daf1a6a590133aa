package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.zookeeper.Standing.AtTheHead;
import io.holdfast.zookeeper.Standing.Behind;
import io.holdfast.zookeeper.Standing.Holder;
import io.holdfast.zookeeper.Standing.Missing;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StandingTest {

    /** Kinds and permits in order, such as "w1 r1": the node at index i has the sequence 10 + i. */
    private static List<QueueNode> queue(String kinds) {
        List<String> names = new ArrayList<>();
        if (!kinds.isEmpty()) {
            for (String kind : kinds.split(" ", -1)) {
                names.add("c%d_%s_1_%010d".formatted(names.size(), kind, 10 + names.size()));
            }
        }
        Collections.shuffle(names, new Random(7));
        return Standing.inOrder(names);
    }

    private static String standing(List<QueueNode> queue, int index) {
        Standing standing = Standing.of(queue, queue.get(index).name());
        if (standing instanceof Behind behind) {
            return "behind " + index(queue, behind.name());
        }
        return standing instanceof Holder ? "holds" : standing instanceof AtTheHead ? "head" : "missing";
    }

    private static int index(List<QueueNode> queue, String name) {
        return queue.stream().map(QueueNode::name).toList().indexOf(name);
    }

    @ParameterizedTest
    @CsvSource({
        "m1,                holds",
        "m1 m1 m1,          holds | behind 0 | behind 1",
        "w1 w1,             holds | behind 0",
        "r1 r1 r1,          holds | holds | holds",
        "w1 r1 r1 w1 r1,    holds | behind 0 | behind 0 | behind 2 | behind 3",
        "r1 r1 w1 r1 w1 r1, holds | holds | behind 1 | behind 2 | behind 3 | behind 4",
        "w1 r1 w1 r1,       holds | behind 0 | behind 1 | behind 2",
        "s2 s2,             holds | holds",
        "s2 s2 s2 s2 s2,    holds | holds | head | behind 2 | behind 3",
        "s2 s2 s3,          holds | holds | holds",
        "s2 s2 s1 s9,       holds | holds | head | behind 2",
        "s9 s9 s1,          holds | holds | head",
        "s1 s1,             holds | head"
    })
    void nodesStandWhereTheNamesSay(String kinds, String expected) {
        List<QueueNode> queue = queue(kinds);
        List<String> standings = IntStream.range(0, queue.size())
                .mapToObj(i -> standing(queue, i))
                .toList();
        assertThat(String.join(" | ", standings)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "free",
            value = {
                "'',       m1, free",
                "m1,       m1, 0",
                "m1 m1,    m1, 1",
                "r1 r1,    r1, free",
                "r1 r1,    w1, 1",
                "w1 r1,    r1, 0",
                "r1 w1 r1, r1, 1",
                "s2,       s2, free",
                "s2 s2,    s2, 1",
                "s2 s2,    s3, free",
                "s2 s2 s2, s9, 2"
            })
    void newcomerHasToWaitExactlyWhenItWouldNotHold(String kinds, String newcomer, Integer blocker) {
        List<QueueNode> queue = queue(kinds);
        QueueNode node = QueueNode.parse("new_" + newcomer + "_1_0000000099");
        QueueNode found = Standing.blockerOfNewcomer(queue, node.kind(), node.permits());
        assertThat(found == null ? null : (Integer) index(queue, found.name())).isEqualTo(blocker);
        List<QueueNode> with = new ArrayList<>(queue);
        with.add(node);
        assertThat(Standing.of(with, node.name()) instanceof Holder).isEqualTo(found == null);
    }

    @Test
    void nodeThatIsNotThereIsMissing() {
        assertThat(Standing.of(queue("m1 m1"), "c9_m1_1_0000000001")).isEqualTo(new Missing());
        assertThat(Standing.of(List.of(), "c9_m1_1_0000000001")).isEqualTo(new Missing());
    }

    @Test
    void orderIsThatOfTheNumbersAndOfNothingElseInTheName() {
        List<QueueNode> queue =
                Standing.inOrder(List.of("a_m1_1_0000000012", "z_m1_1_0000000009", "m_m1_1_0000000010"));
        assertThat(queue).extracting(QueueNode::sequence).containsExactly(9, 10, 12);
    }

    @Test
    void foreignNodesAndThosePastTheEndAreNotInTheWay() {
        List<QueueNode> queue = Standing.inOrder(
                List.of("lock-0000000001", "a_m1_1_-2147483648", "b_m1_1_2147483647", "c_m1_1_2147483646"));
        assertThat(queue).extracting(QueueNode::claimId).containsExactly("c");
    }

    /** The watch of each waiter is enough: whoever may hold is told, by a deletion or by a mark, and nobody is told in vain for long. */
    @ParameterizedTest
    @ValueSource(strings = {"MUTEX", "READ_WRITE", "SEMAPHORE"})
    void noHandOverIsMissed(String kinds) {
        for (int seed = 0; seed < 2_000; seed++) {
            QueueModel model = new QueueModel(new Random(seed), kinds);
            model.run();
            assertThat(model.missed()).as("seed %d: %s", seed, model).isEmpty();
            assertThat(model.mostWoken())
                    .as("seed %d: woken by one deletion", seed)
                    .isLessThanOrEqualTo(model.bound());
        }
    }

    @Test
    void heldStaysHeldWhileOthersLeave() {
        Random random = new Random(3);
        for (int round = 0; round < 2_000; round++) {
            List<QueueNode> queue = queue(String.join(
                    " ",
                    random.ints(1 + random.nextInt(8), 1, 4)
                            .mapToObj(n -> "s" + n)
                            .toList()));
            QueueNode gone = queue.get(random.nextInt(queue.size()));
            List<QueueNode> rest =
                    queue.stream().filter(node -> !node.equals(gone)).toList();
            for (QueueNode node : rest) {
                if (Standing.of(queue, node.name()) instanceof Holder) {
                    assertThat(Standing.of(rest, node.name())).isInstanceOf(Holder.class);
                }
            }
        }
    }
}
