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

/** The rules of {@link QueuePosition} without optimisation: parses every name and sorts them all. */
final class PlainQueuePosition {

    private PlainQueuePosition() {}

    /** Returns the names that are places in a queue, in its order. A node past the end is no place, and is about to be deleted. */
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
     * Returns the position of a node.
     *
     * @param queue in order
     * @param own the node's name
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
     * Returns a node for which a new node at the end would have to wait.
     *
     * @param queue in order
     * @param kind the kind of the new node
     * @param permits the permits of the semaphore, by the new claim's options
     * @param taken how many permits the new claim takes
     * @return the node after whose end the claim should try; null if it would not have to wait
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

    /** Returns the index of the nearest blocking node in front. */
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
