package io.holdfast.zookeeper.internal.queue;

import io.holdfast.LockKind;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The rules of {@link Line} without optimisation. */
final class PlainLine {

    private PlainLine() {}

    /** Returns the names that are places in a queue, in its order. A node past the end is no place, and is about to be deleted. */
    static List<QueueNode> inOrder(Collection<String> names) {
        return names.stream()
                .map(QueueNode::parse)
                .filter(Objects::nonNull)
                .filter(node -> !node.isPastTheEnd())
                .sorted(QueueNode.ORDER)
                .toList();
    }

    /** Returns how many nodes hold. They are at the front. */
    static int holders(List<QueueNode> queue) {
        int holders = 0;
        while (holders < queue.size() && fits(queue.subList(0, holders), queue.get(holders))) {
            holders++;
        }
        return holders;
    }

    /** Whether a node holds behind those holders. */
    static boolean fits(List<QueueNode> holders, QueueNode node) {
        return switch (node.kind()) {
            case MUTEX, WRITE -> holders.isEmpty();
            case READ -> holders.stream().allMatch(it -> it.kind() == LockKind.READ);
            case SEMAPHORE -> holders.stream().mapToLong(QueueNode::taken).sum() + node.taken() <= node.permits();
        };
    }

    /** Returns the nearest node in front that such a node may have to wait for. */
    static Optional<QueueNode> nearest(List<QueueNode> inFront, LockKind kind) {
        return inFront.stream()
                .filter(it -> kind != LockKind.READ || it.kind() == LockKind.WRITE)
                .reduce((nearer, later) -> later);
    }
}
