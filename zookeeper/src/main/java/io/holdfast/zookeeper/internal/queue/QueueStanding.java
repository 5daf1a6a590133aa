package io.holdfast.zookeeper.internal.queue;

import java.util.Collection;
import java.util.List;

/**
 * Which claims hold a lock and which wait for it. This is decided by the names in its queue, and by whether the first writer has become a
 * reader. The rules are those of {@link QueuePosition}, which decides for one claim.
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
        List<QueueNode> queue = QueueNode.parseUpTo(Integer.MAX_VALUE - 1, names).stream()
                .map(node -> node.name().equals(reader) ? node.asReader() : node)
                .sorted(QueueNode.ORDER)
                .toList();
        int holders = 0;
        long taken = 0;
        while (holders < queue.size() && holds(queue, holders, taken)) {
            taken += queue.get(holders).taken();
            holders++;
        }
        return new QueueStanding(queue.subList(0, holders), queue.subList(holders, queue.size()));
    }

    /** Call it only if all nodes in front hold. */
    private static boolean holds(List<QueueNode> queue, int place, long taken) {
        QueueNode node = queue.get(place);
        return switch (node.kind()) {
            case MUTEX, WRITE -> place == 0;
            case READ -> place == 0 || !queue.get(place - 1).blocks(node.kind());
            case SEMAPHORE -> taken + node.taken() <= node.permits();
        };
    }
}
