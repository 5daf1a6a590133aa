package io.holdfast.zookeeper.internal.queue;

import io.holdfast.spi.LockKind;
import java.util.Collection;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Nodes of one queue in their order, each with a value. Write nodes are also kept in a second set, because only they block a reader. So the
 * nearest blocking node is found without a walk over thousands of readers.
 */
final class NodeMap<V> {

    private final NavigableMap<QueueNode, V> all = new TreeMap<>(QueueNode.ORDER);

    /** The keys of kind {@link LockKind#WRITE}. */
    private final NavigableSet<QueueNode> writers = new TreeSet<>(QueueNode.ORDER);

    void put(QueueNode node, V value) {
        all.put(node, value);
        if (node.kind() == LockKind.WRITE) {
            writers.add(node);
        }
    }

    @Nullable
    V remove(QueueNode node) {
        if (node.kind() == LockKind.WRITE) {
            writers.remove(node);
        }
        return all.remove(node);
    }

    @Nullable
    V get(QueueNode node) {
        return all.get(node);
    }

    boolean contains(QueueNode node) {
        return all.containsKey(node);
    }

    /** Removes the nodes with that number or a lower one. */
    void removeUpTo(int sequence) {
        all.keySet().removeIf(it -> it.sequence() <= sequence);
        writers.removeIf(it -> it.sequence() <= sequence);
    }

    void clear() {
        all.clear();
        writers.clear();
    }

    int size() {
        return all.size();
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Returns the entries in their order. */
    Collection<Map.Entry<QueueNode, V>> entries() {
        return all.entrySet();
    }

    @Nullable
    V firstValue() {
        Map.Entry<QueueNode, V> first = all.firstEntry();
        return first == null ? null : first.getValue();
    }

    /** Returns the greatest number. */
    int lastSequence(int ifEmpty) {
        return all.isEmpty() ? ifEmpty : all.lastKey().sequence();
    }

    /** Whether one of the nodes blocks a later node of that kind. */
    boolean blocks(LockKind kind) {
        return !blockers(kind).isEmpty();
    }

    /** Returns the nearest node in front that blocks this one; null without one. */
    @Nullable
    QueueNode blockerOf(QueueNode node) {
        return blockers(node.kind()).lower(node);
    }

    /** Whether a node between the two blocks the second one. */
    boolean blocksBetween(QueueNode first, QueueNode second) {
        QueueNode blocker = blockerOf(second);
        return blocker != null && QueueNode.ORDER.compare(blocker, first) > 0;
    }

    /** Returns how many nodes in front block this one: 0, 1, or 2 for two and more. */
    int blockersUpToTwo(QueueNode node) {
        QueueNode nearest = blockerOf(node);
        if (nearest == null) {
            return 0;
        }
        return blockers(node.kind()).lower(nearest) == null ? 1 : 2;
    }

    private NavigableSet<QueueNode> blockers(LockKind kind) {
        return kind == LockKind.READ ? writers : all.navigableKeySet();
    }
}
