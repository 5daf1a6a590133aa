package io.holdfast.zookeeper.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LineTest {

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
        return PlainLine.inOrder(names);
    }

    /** Returns where a client stands that has this node only. */
    private static String standing(List<QueueNode> queue, int index) {
        LockQueue<String> known = new LockQueue<>();
        QueueNode own = queue.get(index);
        known.entered(own, "own");
        assertThat(known.namesRead(known.namesAsked(), own.sequence(), queue.subList(0, index + 1)))
                .isEmpty();
        if (!known.first().isEmpty()) {
            return "holds";
        }
        return known.need() instanceof QueueNeed.Watch watch ? "behind " + queue.indexOf(watch.node()) : "head";
    }

    private static List<String> names(List<QueueNode> queue) {
        return queue.stream().map(QueueNode::name).toList();
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
        QueueNode found = QueueStanding.blockerOf(node, names(queue));
        assertThat(found == null ? null : (Integer) queue.indexOf(found)).isEqualTo(blocker);
        List<QueueNode> with = new ArrayList<>(queue);
        with.add(node);
        assertThat(Line.of(with).holds(node)).isEqualTo(found == null);
    }

    @Test
    void orderIsThatOfTheNumbersAndOfNothingElseInTheName() {
        List<QueueNode> queue = QueueNode.parseUpTo(
                12, List.of("a_m1_1_0000000012", "z_m1_1_0000000009", "m_m1_1_0000000010", "b_m1_1_0000000013"));
        assertThat(Line.of(queue).nodes()).extracting(QueueNode::sequence).containsExactly(9, 10, 12);
    }

    @Test
    void foreignNodesAndNodesPastTheEndDoNotBlock() {
        QueueStanding standing = QueueStanding.of(
                List.of("lock-0000000001", "a_m1_1_-2147483648", "b_m1_1_2147483647", "c_m1_1_2147483646"));
        assertThat(standing.holders()).extracting(QueueNode::claimId).containsExactly("c");
        assertThat(standing.waiters()).isEmpty();
    }

    private static List<String> any(Random random) {
        List<String> foreign = List.of(
                "lock-0000000011", "a_b_0000000012", "x_m1_1_2147483647", "x_m1_1_-2147483648", "_m1_1_0000000013");
        String kinds = List.of("m", "rw", "s").get(random.nextInt(3));
        List<String> names = new ArrayList<>(foreign.subList(0, random.nextInt(foreign.size() + 1)));
        for (int i = random.nextInt(12); i > 0; i--) {
            char kind = kinds.charAt(random.nextInt(kinds.length()));
            int permits = kind == 's' ? 1 + random.nextInt(6) : 1;
            String taken = kind == 's' && random.nextBoolean() ? "-" + (1 + random.nextInt(permits)) : "";
            names.add("c%d_%c%d%s_1_%010d".formatted(i, kind, permits, taken, random.nextInt(30)));
        }
        Collections.shuffle(names, random);
        return names;
    }

    /** The last holder is remembered while nodes come and go. That does not change the result. */
    @Test
    void holdersAreThoseOfTheWholeLineAfterEachChange() {
        Random random = new Random(11);
        for (int round = 0; round < 2_000 * CASES; round++) {
            List<String> names = any(random);
            List<QueueNode> inOrder = PlainLine.inOrder(names);
            QueueStanding standing = QueueStanding.of(names);
            assertThat(standing.holders()).as("%s", names).isEqualTo(inOrder.subList(0, PlainLine.holders(inOrder)));
            assertThat(standing.waiters())
                    .as("%s", names)
                    .isEqualTo(inOrder.subList(PlainLine.holders(inOrder), inOrder.size()));

            Line line = new Line();
            List<QueueNode> there = new ArrayList<>();
            for (int step = 0; step < 20 && !inOrder.isEmpty(); step++) {
                QueueNode node = inOrder.get(random.nextInt(inOrder.size()));
                if (there.remove(node)) {
                    assertThat(line.remove(node)).isTrue();
                } else {
                    there.add(node);
                    there.sort(QueueNode.ORDER);
                    line.add(node);
                }
                int holders = PlainLine.holders(there);
                assertThat(line.lastHolder()).as("%s", there).isEqualTo(holders == 0 ? null : there.get(holders - 1));
            }
        }
    }

    @Test
    void blockerOfANewcomerIsTheNearestNodeThatItWaitsFor() {
        Random random = new Random(12);
        for (int round = 0; round < 2_000 * CASES; round++) {
            List<String> names = any(random);
            List<QueueNode> inOrder = PlainLine.inOrder(names);
            String kind = names.stream().anyMatch(it -> it.contains("_s"))
                    ? "s3-" + (1 + random.nextInt(3))
                    : List.of("m1", "r1").get(random.nextInt(2));
            QueueNode newcomer = QueueNode.parse("new_" + kind + "_1_0000000099");
            boolean holds = PlainLine.holders(inOrder) == inOrder.size() && PlainLine.fits(inOrder, newcomer);
            assertThat(QueueStanding.blockerOf(newcomer, names))
                    .as("%s to %s", newcomer, names)
                    .isEqualTo(
                            holds
                                    ? null
                                    : PlainLine.nearest(inOrder, newcomer.kind())
                                            .orElse(null));
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
            Line before = Line.of(queue);
            Line after = Line.of(queue);
            assertThat(after.remove(gone)).isTrue();
            assertThat(queue)
                    .filteredOn(node -> !node.equals(gone) && before.holds(node))
                    .allMatch(after::holds);
        }
    }
}
