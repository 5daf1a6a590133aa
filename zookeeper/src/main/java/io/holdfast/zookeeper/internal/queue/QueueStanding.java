package io.holdfast.zookeeper.internal.queue;

import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which claims hold a lock and which wait for it. This is decided by the names in its queue, and by whether the first writer has become a
 * reader.
 *
 * @param holders in the order of the queue
 * @param waiters in the order of the queue
 */
public record QueueStanding(List<QueueNode> holders, List<QueueNode> waiters) {

    /**
     * Sorts all nodes into holders and waiters.
     *
     * @param names the names in the queue, in any order; names that are no places do not count
     */
    public static QueueStanding of(Collection<String> names) {
        return of(names, "");
    }

    /**
     * Sorts all nodes into holders and waiters.
     *
     * @param names the names in the queue, in any order; names that are no places do not count
     * @param reader the name of the writer that has become a reader; there is at most one, at the front
     */
    public static QueueStanding of(Collection<String> names, String reader) {
        Line line = Line.of(QueueNode.parseUpTo(Integer.MAX_VALUE - 1, names).stream()
                .map(node -> node.name().equals(reader) ? node.asReader() : node)
                .toList());
        QueueNode last = line.lastHolder();
        return last == null
                ? new QueueStanding(List.of(), List.of())
                : new QueueStanding(
                        List.copyOf(line.nodes().headSet(last, true)),
                        List.copyOf(line.nodes().tailSet(last, false)));
    }

    /**
     * Returns a node for which a new node at the end would have to wait.
     *
     * @param names the names in the queue, in any order
     * @param newcomer the new node
     * @return a node that blocks it; null if it would not have to wait
     */
    public static @Nullable QueueNode blockerOf(QueueNode newcomer, Collection<String> names) {
        Line line = Line.of(QueueNode.parseUpTo(Integer.MAX_VALUE - 1, names));
        return line.admits(newcomer) ? null : line.nearestInFront(newcomer);
    }
}
