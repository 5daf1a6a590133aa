package io.holdfast.zookeeper.internal.queue;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.zookeeper.internal.queue.LockQueue.Position;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LockQueueTest {

    private static final int CASES = Integer.getInteger("holdfast.cases", 1);

    private final LockQueue<String> queue = new LockQueue<>();

    private static QueueNode node(int number, int session) {
        return requireNonNull(QueueNode.parse("%x_m1_%x_%010d".formatted(number + 100, session, number)));
    }

    private static QueueNode own(int number) {
        return node(number, 1);
    }

    private static QueueNode other(int number) {
        return node(number, 2);
    }

    private void enter(int number) {
        queue.entered(own(number), "claim " + number);
    }

    private void list(int upTo, QueueNode... nodes) {
        assertThat(queue.namesRead(queue.namesAsked(), upTo, List.of(nodes))).isEmpty();
    }

    @Test
    void nextNumberOfAGuardedQueueNeedsNoList() {
        enter(4);
        list(4, own(4));
        queue.guarded();
        queue.leaves(own(4));
        assertThat(queue.mayDoWithoutList(own(9))).isTrue();
        enter(5);
        assertThat(queue.position(own(5))).isEqualTo(Position.FIRST);
    }

    @Test
    void nextNumberOfAQueueThatMayHaveBeenDeletedProvesNothing() {
        enter(0);
        list(0, own(0));
        queue.leaves(own(0));
        enter(1);
        assertThat(queue.position(own(1))).isEqualTo(Position.UNKNOWN);
        list(1, other(0), own(1));
        assertThat(queue.position(own(1))).isEqualTo(Position.BEHIND);
    }

    @Test
    void firstNodeOfANewQueueNeedsNoList() {
        queue.begun(own(0), "claim 0");
        assertThat(queue.position(own(0))).isEqualTo(Position.FIRST);
    }

    /** Nodes of the former queue do not exist any more. */
    @Test
    void firstNodeOfAnotherQueueWaitsForNoNodeOfTheFormerOne() {
        enter(4);
        list(4, other(3), own(4));
        queue.leaves(own(4));
        queue.begun(own(0), "claim 0");
        assertThat(queue.position(own(0))).isEqualTo(Position.FIRST);
    }

    @Test
    void onlyOneClaimCreatesAMissingQueue() {
        assertThat(queue.mayBegin(false)).isFalse();
        assertThat(queue.mayBegin(true)).isTrue();
        queue.isMissing();
        assertThat(queue.mayBegin(false)).isTrue();
        queue.entering();
        assertThat(queue.mayBegin(true)).isFalse();
        queue.enteringAnswered();
        queue.isThere();
        assertThat(queue.mayBegin(true)).isFalse();
    }

    @Test
    void queueThatWasDeletedIsNotContinued() {
        enter(0);
        list(0, own(0));
        queue.guarded();
        queue.leaves(own(0));
        queue.forgetAll();
        enter(1);
        assertThat(queue.position(own(1))).isEqualTo(Position.UNKNOWN);
    }

    @Test
    void claimsOfTheSessionFollowEachOtherWithoutAnAnswer() {
        enter(1);
        list(1, own(1));
        enter(2);
        enter(3);
        queue.holds(own(1));
        assertThat(queue.first()).isEmpty();
        queue.leaves(own(1));
        assertThat(queue.first()).containsExactly("claim 2");
        queue.leaves(own(2));
        assertThat(queue.first()).containsExactly("claim 3");
    }

    @Test
    void claimBehindAHolderOfItsSessionWaitsForIt() {
        enter(1);
        list(1, own(1));
        queue.holds(own(1));
        enter(2);
        assertThat(queue.position(own(2))).isEqualTo(Position.BEHIND);
        assertThat(queue.need()).isEqualTo(new QueueNeed.Nothing());
    }

    @Test
    void firstWaiterWatchesTheNearestNodeOfAnotherClient() {
        enter(3);
        enter(4);
        list(3, other(1), other(2), own(3));
        assertThat(queue.need()).isEqualTo(new QueueNeed.Watch(other(2)));
        queue.watching(other(2));
        assertThat(queue.need()).isEqualTo(new QueueNeed.Nothing());
    }

    /** Other nodes in front of the deleted one may be deleted, too: they were not watched. */
    @Test
    void severalRemainingNodesAreListed() {
        enter(4);
        list(4, other(1), other(2), other(3), own(4));
        queue.watching(other(3));
        boolean unused = queue.gone(other(3).name());
        assertThat(queue.need()).isEqualTo(new QueueNeed.Names());
        list(4, own(4));
        assertThat(queue.first()).containsExactly("claim 4");
    }

    @Test
    void listThatIsReadSlowlyBringsNoDeletedNodeBack() {
        enter(4);
        int asked = queue.namesAsked();
        boolean unused = queue.gone(other(3).name());
        assertThat(queue.namesRead(asked, 4, List.of(other(3), own(4)))).isEmpty();
        assertThat(queue.first()).containsExactly("claim 4");
    }

    @Test
    void claimWhoseNodeIsNotInAListIsReported() {
        enter(4);
        assertThat(queue.namesRead(queue.namesAsked(), 4, List.of(other(3)))).containsExactly("claim 4");
    }

    @Test
    void readersPassReadersAndNotWriters() {
        QueueNode reader = requireNonNull(QueueNode.parse("a_r1_1_0000000003"));
        QueueNode behindWriter = requireNonNull(QueueNode.parse("b_r1_1_0000000005"));
        queue.entered(reader, "reader");
        list(3, requireNonNull(QueueNode.parse("c_r1_2_0000000001")), reader);
        assertThat(queue.first()).containsExactly("reader");
        queue.entered(behindWriter, "behind");
        list(5, requireNonNull(QueueNode.parse("d_w1_2_0000000004")), reader, behindWriter);
        assertThat(queue.first()).containsExactly("reader");
    }

    @Test
    void doubtfulNodeBlocksOtherClaimsOfItsSession() {
        enter(1);
        list(1, own(1));
        enter(2);
        queue.isDoubtful(own(1));
        assertThat(queue.position(own(2))).isEqualTo(Position.BEHIND);
        queue.adopted(own(1), "claim 1");
        assertThat(queue.first()).containsExactly("claim 1");
    }

    /** The watch of each session is enough: it learns of each deletion or mark after which one of its claims holds. */
    @ParameterizedTest
    @EnumSource(
            value = LockKind.class,
            names = {"MUTEX", "WRITE", "SEMAPHORE"})
    void noClaimHoldsBehindANodeAndNoHandOffIsMissed(LockKind kind) {
        int lists = 0;
        int grants = 0;
        int marks = 0;
        int deletions = 0;
        int reports = 0;
        for (int seed = 0; seed < 4_000 * CASES; seed++) {
            Random random = new Random(seed);
            int permits = 1 + random.nextInt(4);
            LockQueueModel model = new LockQueueModel(random, 1 + seed % 4, seed % 8 == 0, () -> switch (kind) {
                case MUTEX -> "m1";
                case READ, WRITE -> random.nextBoolean() ? "r1" : "w1";
                case SEMAPHORE ->
                    "s%d-%d".formatted(permits, 1 + random.nextInt(permits)).replace("-1", "");
            });
            model.run();
            assertThat(model.wrong()).as("seed %d", seed).isEmpty();
            lists += model.lists();
            grants += model.grants();
            marks += model.marks();
            deletions += model.deletions();
            reports += model.reports();
        }
        System.out.printf(
                "queues of %s: %d grants, %d lists, %d marks, %d deletions, %d reports%n",
                kind, grants, lists, marks, deletions, reports);
        assertThat(grants).isGreaterThan(5_000);
        assertThat((double) reports / deletions)
                .as("sessions woken by a deletion")
                .isLessThan(1);
    }

    /** Readers of two clients come without a pause, so there is always a list under way. */
    @Test
    void deletedNodesAreNotRememberedForEver() {
        int asked = queue.namesAsked();
        for (int i = 0; i < 5_000; i++) {
            int next = queue.namesAsked();
            boolean unused = queue.gone(own(i).name());
            assertThat(queue.namesRead(asked, i, List.of())).isEmpty();
            asked = next;
        }
        assertThat(queue.remembered()).isLessThanOrEqualTo(1_000);
    }

    /** If the steps grew with the square of the number of readers, this would take seconds, in which the session serves no other claim. */
    @Test
    void thousandsOfReadersMayTakeTheLockTogether() {
        QueueNode writer = requireNonNull(QueueNode.parse("w_w1_1_0000000000"));
        queue.entered(writer, "writer");
        list(0, writer);
        queue.holds(writer);
        for (int i = 1; i <= 10_000; i++) {
            queue.entered(requireNonNull(QueueNode.parse("r_r1_1_%010d".formatted(i))), "reader");
        }
        queue.leaves(writer);
        long start = System.nanoTime();
        for (int i = 0; i < 10; i++) {
            assertThat(queue.first()).hasSize(10_000);
            assertThat(queue.need()).isEqualTo(new QueueNeed.Nothing());
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5)); // was 50 s and more
    }

    /** A walk over all holders would take a hundred times as long. */
    @Test
    void readerEntersAmongTenThousandAboutAsFastAsAmongAHundred() {
        Readers few = new Readers(100);
        Readers many = new Readers(10_000);
        long leastOfFew = Long.MAX_VALUE;
        long leastOfMany = Long.MAX_VALUE;
        for (int round = 0; round < 50; round++) {
            leastOfFew = Math.min(leastOfFew, few.enterAndLeave());
            leastOfMany = Math.min(leastOfMany, many.enterAndLeave());
        }
        assertThat((double) leastOfMany / leastOfFew)
                .as("ratio of the shortest times")
                .isLessThan(10);
    }

    /** Readers of one session that hold the lock. */
    private static final class Readers {

        private static final int ENTERING = 50;

        private final LockQueue<String> readers = new LockQueue<>();
        private int next;

        Readers(int count) {
            assertThat(readers.namesRead(readers.namesAsked(), -1, List.of())).isEmpty();
            QueueNode first = enter();
            assertThat(readers.namesRead(readers.namesAsked(), 0, List.of(first)))
                    .isEmpty();
            readers.holds(first);
            while (next < count) {
                QueueNode entered = enter();
                readers.holds(entered);
            }
        }

        private static QueueNode reader(int number) {
            return requireNonNull(QueueNode.parse("r_r1_1_%010d".formatted(number)));
        }

        private QueueNode enter() {
            QueueNode node = reader(next++);
            readers.entered(node, "reader");
            return node;
        }

        /** Returns nanoseconds, without the time for parsing names. */
        long enterAndLeave() {
            List<QueueNode> entering = IntStream.range(next, next + ENTERING)
                    .mapToObj(Readers::reader)
                    .toList();
            next += ENTERING;
            long start = System.nanoTime();
            for (QueueNode node : entering) {
                assertThat(readers.mayDoWithoutList(node)).isTrue();
                readers.entered(node, "reader");
                assertThat(readers.position(node)).isEqualTo(Position.FIRST);
                readers.holds(node);
            }
            long taken = System.nanoTime() - start;
            entering.forEach(readers::leaves);
            assertThat(entering).noneMatch(it -> readers.gone(it.name()));
            return taken;
        }
    }
}
