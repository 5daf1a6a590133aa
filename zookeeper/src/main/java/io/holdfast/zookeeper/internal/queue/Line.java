package io.holdfast.zookeeper.internal.queue;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockKind;
import java.util.Collection;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Nodes of one queue in their order, and those at the front that hold the lock. A holder keeps the lock until its node is deleted: no new
 * node can appear in front of it.
 *
 * <ul>
 *   <li>A mutex or the write side is held by the first node.
 *   <li>The read side is held by every node without a writer in front.
 *   <li>A semaphore is held by the nodes from the front. They end before the first node that does not fit into its own permits together
 *       with the nodes in front. So a claim that takes many permits holds back the claims behind it.
 * </ul>
 *
 * <p>The last holder is remembered, and writers are kept in a second set, because only they block a reader. So there is no walk over
 * thousands of readers.
 */
final class Line {

    private final NavigableSet<QueueNode> all = new TreeSet<>(QueueNode.ORDER);

    private final NavigableSet<QueueNode> writers = new TreeSet<>(QueueNode.ORDER);

    /** The last node that was found to hold; null if none was found yet. */
    private @Nullable QueueNode lastHolder;

    /** The last node whose owner has reported that it holds. */
    private @Nullable QueueNode reported;

    /** The permits that the nodes up to the last holder take. */
    private long taken;

    /** Returns the nodes as a line. */
    static Line of(Collection<QueueNode> nodes) {
        Line line = new Line();
        nodes.forEach(line::add);
        return line;
    }

    void add(QueueNode node) {
        boolean isNew = all.add(node);
        if (node.kind() == LockKind.WRITE) {
            writers.add(node);
        }
        if (isNew && isUpTo(lastHolder, node)) {
            lastHolder = null; // the nodes behind it may not hold after all
            taken = 0;
        }
    }

    boolean remove(QueueNode node) {
        writers.remove(node);
        boolean wasThere = all.remove(node);
        if (wasThere && isUpTo(lastHolder, node)) {
            taken -= node.taken();
            lastHolder = all.floor(requireNonNull(lastHolder));
        }
        return wasThere;
    }

    /** Forgets all reports about holders. */
    void forgetReports() {
        reported = null;
    }

    boolean contains(QueueNode node) {
        return all.contains(node);
    }

    int size() {
        return all.size();
    }

    NavigableSet<QueueNode> nodes() {
        return all;
    }

    /** The owner of the node has reported that it holds. So the nodes in front hold, too, even if the list has more nodes than permits. */
    void isReported(QueueNode holder) {
        reported = isUpTo(reported, holder) ? reported : holder;
    }

    /** Returns the last node that holds; null without one. */
    @Nullable
    QueueNode lastHolder() {
        for (QueueNode next = next(); next != null && (fits(next) || isUpTo(reported, next)); next = next()) {
            lastHolder = next;
            taken += next.taken();
        }
        return lastHolder;
    }

    private @Nullable QueueNode next() {
        return lastHolder == null ? all.isEmpty() ? null : all.first() : all.higher(lastHolder);
    }

    private boolean fits(QueueNode next) {
        return switch (next.kind()) {
            case MUTEX, WRITE -> lastHolder == null;
            case READ -> lastHolder == null || lastHolder.kind() == LockKind.READ;
            case SEMAPHORE -> taken + next.taken() <= next.permits();
        };
    }

    boolean holds(QueueNode node) {
        return isUpTo(lastHolder(), node);
    }

    private static boolean isUpTo(@Nullable QueueNode last, QueueNode node) {
        return last != null && QueueNode.ORDER.compare(node, last) <= 0;
    }

    /** Whether the node is the first that does not hold. */
    boolean isAtTheHead(QueueNode node) {
        QueueNode unused = lastHolder();
        return node.equals(next());
    }

    /** Whether a new node at the end would hold. */
    boolean admits(QueueNode newcomer) {
        QueueNode unused = lastHolder();
        return next() == null && fits(newcomer);
    }

    /** Whether the holders leave so many permits. */
    boolean hasRoomFor(long more, int permits) {
        QueueNode unused = lastHolder();
        return taken + more <= permits;
    }

    /** Returns the nearest node in front that such a node may have to wait for; null without one. */
    @Nullable
    QueueNode nearestInFront(QueueNode node) {
        return blockers(node).lower(node);
    }

    /** Whether there is more than one such node in front. */
    boolean hasSeveralInFront(QueueNode node) {
        QueueNode nearest = nearestInFront(node);
        return nearest != null && blockers(node).lower(nearest) != null;
    }

    private NavigableSet<QueueNode> blockers(QueueNode of) {
        return of.kind() == LockKind.READ ? writers : all;
    }
}
