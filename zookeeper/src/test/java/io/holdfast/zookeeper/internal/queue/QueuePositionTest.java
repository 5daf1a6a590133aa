package io.holdfast.zookeeper.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockKind;
import io.holdfast.zookeeper.internal.queue.QueuePosition.AtTheHead;
import io.holdfast.zookeeper.internal.queue.QueuePosition.Behind;
import io.holdfast.zookeeper.internal.queue.QueuePosition.Holder;
import io.holdfast.zookeeper.internal.queue.QueuePosition.Missing;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QueuePositionTest {

    private static final int CASES = Integer.getInteger("holdfast.cases", 1);

    /** Parses kinds and permits in order, such as "w1 r1": the node at index i has the sequence 10 + i. */
    private static List<QueueNode> queue(String kinds) {
        List<String> names = new ArrayList<>();
        if (!kinds.isEmpty()) {
            for (String kind : kinds.split(" ", -1)) {
                names.add("c%d_%s_1_%010d".formatted(names.size(), kind, 10 + names.size()));
            }
        }
        Collections.shuffle(names, new Random(7));
        return PlainQueuePosition.inOrder(names);
    }

    private static String standing(List<QueueNode> queue, int index) {
        QueuePosition standing = of(queue, queue.get(index));
        if (standing instanceof Behind behind) {
            return "behind " + index(queue, behind.name());
        }
        return standing instanceof Holder ? "holds" : standing instanceof AtTheHead ? "head" : "missing";
    }

    private static List<String> names(List<QueueNode> queue) {
        return queue.stream().map(QueueNode::name).toList();
    }

    private static QueuePosition of(List<QueueNode> queue, QueueNode node) {
        return QueuePosition.of(names(queue), node);
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
        "s1 s1,             holds | head",
        "szik0zj szik0zj s1, holds | holds | head",
        "s5-3 s5-2 s5,      holds | holds | head",
        "s5-3 s5-3 s5 s5,   holds | head | behind 1 | behind 2",
        "s5 s5-5 s5,        holds | head | behind 1",
        "s3-2 s6-4 s6,      holds | holds | head",
        "szik0zj-zik0zj szik0zj-zik0zj s1, holds | head | behind 1"
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
                "s2 s2 s2, s9, 2",
                "s5-3,     s5-2, free",
                "s5-3,     s5-3, 0",
                "s5-3 s5-3, s9, 1",
                "'',       s5-5, free",
                "s5,       s5-5, 0"
            })
    void newcomerHasToWaitExactlyWhenItWouldNotHold(String kinds, String newcomer, Integer blocker) {
        List<QueueNode> queue = queue(kinds);
        QueueNode node = QueueNode.parse("new_" + newcomer + "_1_0000000099");
        QueueNode found = QueuePosition.blockerOfNewcomer(names(queue), node.kind(), node.permits(), node.taken());
        assertThat(found == null ? null : (Integer) index(queue, found.name())).isEqualTo(blocker);
        List<QueueNode> with = new ArrayList<>(queue);
        with.add(node);
        assertThat(of(with, node) instanceof Holder).isEqualTo(found == null);
    }

    @Test
    void nodeThatIsNotThereIsMissing() {
        QueueNode gone = QueueNode.parse("c9_m1_1_0000000001");
        assertThat(of(queue("m1 m1"), gone)).isEqualTo(new Missing());
        assertThat(of(List.of(), gone)).isEqualTo(new Missing());
    }

    @Test
    void orderIsThatOfTheNumbersAndOfNothingElseInTheName() {
        List<QueueNode> queue =
                PlainQueuePosition.inOrder(List.of("a_m1_1_0000000012", "z_m1_1_0000000009", "m_m1_1_0000000010"));
        assertThat(queue).extracting(QueueNode::sequence).containsExactly(9, 10, 12);
    }

    @Test
    void foreignNodesAndNodesPastTheEndDoNotBlock() {
        List<QueueNode> queue = PlainQueuePosition.inOrder(
                List.of("lock-0000000001", "a_m1_1_-2147483648", "b_m1_1_2147483647", "c_m1_1_2147483646"));
        assertThat(queue).extracting(QueueNode::claimId).containsExactly("c");
    }

    /** Most names are not parsed. That does not change the result. */
    @Test
    void everyPositionEqualsTheOneFromAllNames() {
        Random random = new Random(11);
        List<String> foreign = List.of(
                "lock-0000000011", "a_b_0000000012", "x_m1_1_2147483647", "x_m1_1_-2147483648", "_m1_1_0000000013");
        for (int round = 0; round < 2_000 * CASES; round++) {
            String kinds = List.of("m", "rw", "s").get(random.nextInt(3));
            List<String> names = new ArrayList<>(foreign.subList(0, random.nextInt(foreign.size() + 1)));
            for (int i = random.nextInt(12); i > 0; i--) {
                char kind = kinds.charAt(random.nextInt(kinds.length()));
                int permits = kind == 's' ? 1 + random.nextInt(6) : 1;
                String taken = kind == 's' && random.nextBoolean() ? "-" + (1 + random.nextInt(permits)) : "";
                names.add("c%d_%c%d%s_1_%010d".formatted(i, kind, permits, taken, random.nextInt(30)));
            }
            Collections.shuffle(names, random);
            List<QueueNode> inOrder = PlainQueuePosition.inOrder(names);
            for (QueueNode node : inOrder) {
                QueuePosition plain = PlainQueuePosition.of(inOrder, node.name());
                QueuePosition standing = QueuePosition.of(names, node);
                if (plain instanceof Holder && node.kind() != LockKind.SEMAPHORE) {
                    assertThat(standing).as("%s of %s", node, names).isInstanceOf(Holder.class);
                } else {
                    assertThat(standing).as("%s of %s", node, names).isEqualTo(plain);
                }
                assertThat(new QueuePosition.Names(names(inOrder)).countInFront(node))
                        .isEqualTo(inOrder.indexOf(node));
            }
            LockKind newcomer =
                    kinds.equals("m") ? LockKind.MUTEX : kinds.equals("s") ? LockKind.SEMAPHORE : LockKind.READ;
            int taken = 1 + random.nextInt(3);
            assertThat(QueuePosition.blockerOfNewcomer(names, newcomer, 3, taken))
                    .as("%s to %s", newcomer, names)
                    .isEqualTo(PlainQueuePosition.blockerOfNewcomer(inOrder, newcomer, 3, taken));
        }
    }

    /** The watch of each waiter is enough: a deletion or a mark wakes each waiter that may hold. Few waiters are woken without a grant. */
    @ParameterizedTest
    @ValueSource(strings = {"MUTEX", "READ_WRITE", "SEMAPHORE"})
    void noHandOffIsMissed(String kinds) {
        for (int seed = 0; seed < 200 * CASES; seed++) {
            QueueModel model = new QueueModel(new Random(seed), kinds);
            model.run();
            assertThat(model.missed()).as("seed %d: %s", seed, model).isEmpty();
            assertThat(model.mostWoken())
                    .as("seed %d: woken by one deletion", seed)
                    .isLessThanOrEqualTo(model.bound());
        }
    }

    @Test
    void holderStaysHolderWhileOthersLeave() {
        Random random = new Random(3);
        for (int round = 0; round < 2_000; round++) {
            List<QueueNode> queue = queue(String.join(
                    " ",
                    random.ints(1 + random.nextInt(8), 1, 4)
                            .mapToObj(n -> "s" + n + "-" + (1 + random.nextInt(n)))
                            .toList()));
            QueueNode gone = queue.get(random.nextInt(queue.size()));
            List<QueueNode> rest =
                    queue.stream().filter(node -> !node.equals(gone)).toList();
            for (QueueNode node : rest) {
                if (of(queue, node) instanceof Holder) {
                    assertThat(of(rest, node)).isInstanceOf(Holder.class);
                }
            }
        }
    }
}
