package io.holdfast.zookeeper.internal.queue;

import io.holdfast.spi.LockKind;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The position of a node in its queue, decided only by the names in it. A holder keeps the lock until its node is deleted: no new node can
 * appear in front of it.
 *
 * <ul>
 *   <li>A mutex or the write side is held by the first node.
 *   <li>The read side is held by every node without a writer in front.
 * <li>A semaphore is held by the nodes from the front. They end before the first node that does not fit into its own permits together with
 * the nodes in front. So a claim that takes many permits holds back the claims behind it.
 * </ul>
 *
 * <p>A list may have thousands of names. For most of them only the number at the end is parsed: see {@link Names}.
 */
public sealed interface QueuePosition {

    /**
     * The node holds the lock.
     *
     * @param isFollowed for a semaphore, whether there is a node behind it that may wait for the mark of this holder; else false
     */
    record Holder(boolean isFollowed) implements QueuePosition {}

    /**
     * The node waits. It needs no request until the named node is deleted or marked as a holder.
     *
     * @param name the node to watch
     */
    record Behind(String name) implements QueuePosition {}

    /** The node is the first waiter of a semaphore. Any node in front may make room for it, so it watches the queue itself. */
    record AtTheHead() implements QueuePosition {}

    /** The node is not in the queue. */
    record Missing() implements QueuePosition {}

    /**
     * Returns the position of a node.
     *
     * @param names the names in the queue, in any order
     * @param own the node
     */
    static QueuePosition of(Collection<String> names, QueueNode own) {
        if (!names.contains(own.name())) {
            return new Missing();
        }
        Names queue = new Names(names);
        if (own.kind() == LockKind.SEMAPHORE) {
            return ofPermit(queue, own);
        }
        QueueNode blocker = queue.nearestInFront(own, own.kind());
        return blocker == null ? new Holder(false) : new Behind(blocker.name());
    }

    /**
     * Returns a node for which a new node at the end would have to wait.
     *
     * @param names the names in the queue, in any order
     * @param kind the kind of the new node
     * @param permits the permits of the semaphore, by the new claim's options
     * @param taken how many permits the new claim takes
     * @return a node that blocks it; null if it would not have to wait
     */
    static @Nullable QueueNode blockerOfNewcomer(Collection<String> names, LockKind kind, int permits, int taken) {
        Names queue = new Names(names);
        QueueNode nearest = queue.nearestInFront(null, kind);
        if (kind != LockKind.SEMAPHORE || nearest == null) {
            return nearest;
        }
        List<QueueNode> front = queue.someInFront(null, permits);
        boolean isFree = front.size() < permits && Holding.of(front).hasRoomFor(permits, taken);
        return isFree ? null : nearest;
    }

    /**
     * If more nodes are in front than its own permits and those of the nearest node, neither of the two holds, since each node takes at
     * least one permit. Usually that decides.
     */
    private static QueuePosition ofPermit(Names queue, QueueNode own) {
        QueueNode nearest = queue.nearestInFront(own, own.kind());
        if (nearest == null) {
            return new Holder(queue.isFollowed(own));
        }
        int most = Math.max(own.permits(), nearest.permits());
        int enough = most == Integer.MAX_VALUE ? most : most + 1; // no list is that long
        List<QueueNode> front = queue.someInFront(own, enough);
        if (front.size() >= enough) {
            return new Behind(nearest.name());
        }
        Holding holding = Holding.of(front);
        if (!holding.byAll()) {
            return new Behind(nearest.name());
        }
        return holding.hasRoomFor(own.permits(), own.taken()) ? new Holder(queue.isFollowed(own)) : new AtTheHead();
    }

    /**
     * What the nodes at the front of a semaphore hold.
     *
     * @param byAll whether all of them hold
     * @param taken how many permits the holders among them have taken
     */
    record Holding(boolean byAll, long taken) {

        /** Computes it from nodes in any order. */
        static Holding of(List<QueueNode> front) {
            long taken = 0;
            for (QueueNode node : front.stream().sorted(QueueNode.ORDER).toList()) {
                if (taken + node.taken() > node.permits()) {
                    return new Holding(false, taken);
                }
                taken += node.taken();
            }
            return new Holding(true, taken);
        }

        boolean hasRoomFor(int permits, int more) {
            return byAll && taken + more <= permits;
        }
    }

    /**
     * The names in a queue. Names that are no places do not count, nor does a node past the end, which is about to be deleted.
     *
     * @param all the names in any order
     */
    record Names(Collection<String> all) {

        /**
         * Returns the nearest node that blocks a node.
         *
         * @param own null for a node that would be the last
         * @param kind the kind of that node
         */
        @Nullable
        QueueNode nearestInFront(@Nullable QueueNode own, LockKind kind) {
            QueueNode nearest = null;
            for (String name : all) {
                int sequence = QueueNode.sequenceOf(name);
                boolean isNearer = isInFront(sequence, name, own)
                        && (nearest == null || !isInFront(sequence, name, nearest))
                        && (kind != LockKind.READ || QueueNode.mayWrite(name));
                QueueNode node = isNearer ? QueueNode.parse(name) : null;
                if (node != null && (kind != LockKind.READ || node.kind() == LockKind.WRITE)) {
                    nearest = node;
                }
            }
            return nearest;
        }

        /** Returns at most so many of the nodes in front, in no order. */
        List<QueueNode> someInFront(@Nullable QueueNode own, int most) {
            return all.stream()
                    .filter(name -> isInFront(QueueNode.sequenceOf(name), name, own))
                    .map(QueueNode::parse)
                    .filter(Objects::nonNull)
                    .map(Objects::requireNonNull)
                    .limit(most)
                    .toList();
        }

        /** Returns how many names are in front. The count may contain names that are no places: they, too, take room in a list. */
        public int countInFront(QueueNode own) {
            int count = 0;
            for (String name : all) {
                if (isInFront(QueueNode.sequenceOf(name), name, own)) {
                    count++;
                }
            }
            return count;
        }

        boolean isFollowed(QueueNode own) {
            for (String name : all) {
                int sequence = QueueNode.sequenceOf(name);
                boolean isBehind = sequence >= 0 && !isInFront(sequence, name, own) && !name.equals(own.name());
                if (isBehind && QueueNode.parse(name) != null) {
                    return true;
                }
            }
            return false;
        }

        private static boolean isInFront(int sequence, String name, @Nullable QueueNode of) {
            if (sequence < 0) {
                return false;
            }
            return of == null
                    || sequence < of.sequence()
                    || (sequence == of.sequence() && name.compareTo(of.name()) < 0);
        }
    }
}
