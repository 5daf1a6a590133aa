package io.holdfast.zookeeper.internal.queue;

import io.holdfast.spi.LockKind;
import io.holdfast.zookeeper.internal.queue.QueuePosition.AtTheHead;
import io.holdfast.zookeeper.internal.queue.QueuePosition.Behind;
import io.holdfast.zookeeper.internal.queue.QueuePosition.Holder;
import io.holdfast.zookeeper.internal.queue.QueuePosition.Missing;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/** The rules of {@link QueuePosition} in the plainest way: reads every name and sorts them all. */
final class PlainQueuePosition {

    private PlainQueuePosition() {}

    /** Those of the names that are places in a queue, in its order. A node past the end has none, and is about to go. */
    static List<QueueNode> inOrder(Collection<String> names) {
        return names.stream()
                .map(QueueNode::parse)
                .filter(Objects::nonNull)
                .map(Objects::requireNonNull)
                .filter(node -> !node.isPastTheEnd())
                .sorted(Comparator.comparingInt(QueueNode::sequence).thenComparing(QueueNode::name))
                .toList();
    }

    /**
     * Where a node stands.
     *
     * @param queue in order
     * @param own its name
     */
    static QueuePosition of(List<QueueNode> queue, String own) {
        int index = indexOf(queue, own);
        if (index < 0) {
            return new Missing();
        }
        QueueNode node = queue.get(index);
        if (node.kind() == LockKind.SEMAPHORE) {
            return ofPermit(queue, index);
        }
        int blocker = blockerOf(queue.subList(0, index), node.kind());
        return blocker < 0 ? new Holder(false) : new Behind(queue.get(blocker).name());
    }

    /**
     * Whether a node put at the end now would have to wait.
     *
     * @param queue in order
     * @param kind its kind
     * @param permits by its own judgement
     * @param taken how many of them it takes
     * @return the node whose end would be worth an attempt; null when it would not have to wait
     */
    static QueueNode blockerOfNewcomer(List<QueueNode> queue, LockKind kind, int permits, int taken) {
        if (kind == LockKind.SEMAPHORE) {
            int holders = holders(queue);
            boolean isFree = holders == queue.size() && taken(queue) + taken <= permits;
            return isFree ? null : queue.get(queue.size() - 1);
        }
        int blocker = blockerOf(queue, kind);
        return blocker < 0 ? null : queue.get(blocker);
    }

    private static QueuePosition ofPermit(List<QueueNode> queue, int index) {
        int holders = holders(queue);
        if (index < holders) {
            return new Holder(index + 1 < queue.size());
        }
        return index == holders
                ? new AtTheHead()
                : new Behind(queue.get(index - 1).name());
    }

    /** The nearest in front that has to go first. */
    private static int blockerOf(List<QueueNode> inFront, LockKind kind) {
        for (int i = inFront.size() - 1; i >= 0; i--) {
            if (kind != LockKind.READ || inFront.get(i).kind() == LockKind.WRITE) {
                return i;
            }
        }
        return -1;
    }

    private static int holders(List<QueueNode> queue) {
        int holders = 0;
        while (holders < queue.size()
                && taken(queue.subList(0, holders + 1)) <= queue.get(holders).permits()) {
            holders++;
        }
        return holders;
    }

    private static long taken(List<QueueNode> nodes) {
        return nodes.stream().mapToLong(QueueNode::taken).sum();
    }

    private static int indexOf(List<QueueNode> queue, String own) {
        for (int i = 0; i < queue.size(); i++) {
            if (queue.get(i).name().equals(own)) {
                return i;
            }
        }
        return -1;
    }
}
