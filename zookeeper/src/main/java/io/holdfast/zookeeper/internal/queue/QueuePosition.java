package io.holdfast.zookeeper.internal.queue;

import io.holdfast.spi.LockKind;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where a node stands in its queue, by the names in it and nothing else. A holder keeps the lock until its node is gone: nodes in front
 * only ever go away.
 *
 * <ul>
 *   <li>A mutex or the write side is held by the first node.
 *   <li>The read side is held by every node without a writer in front.
 *   <li>A semaphore is held by the nodes from the front, up to the first that does not fit into its own permits together with those in front. So one that
 *       takes many holds back those behind it.
 * </ul>
 *
 * <p>A list may have thousands of names. Of most of them only the number at the end is read: see {@link Names}.
 */
public sealed interface QueuePosition {

    /**
     * It holds the lock.
     *
     * @param isFollowed whether there is a node behind that may wait to learn of this, which only a semaphore's does
     */
    record Holder(boolean isFollowed) implements QueuePosition {}

    /**
     * It waits, and need not ask again before that node is gone, or is marked as a holder.
     *
     * @param name the node to watch
     */
    record Behind(String name) implements QueuePosition {}

    /** The first waiter of a semaphore: any of the nodes in front may make room for it, so it watches the queue itself. */
    record AtTheHead() implements QueuePosition {}

    /** It is not in the queue. */
    record Missing() implements QueuePosition {}

    /**
     * Where a node stands.
     *
     * @param names those in the queue, in any order
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
     * Whether a node put at the end now would have to wait.
     *
     * @param names those in the queue, in any order
     * @param kind its kind
     * @param permits by its own judgement
     * @param taken how many of them it takes
     * @return a node that is in its way; null when it would not have to wait
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
     * With more in front than its own permits and those of the nearest one, neither of the two holds, since each takes one at least. Usually that
     * decides.
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
     * Of the nodes at the front of a semaphore.
     *
     * @param byAll whether all of them hold
     * @param taken how many permits those have taken that hold
     */
    record Holding(boolean byAll, long taken) {

        /** Of nodes in any order. */
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
     * The names in a queue. Those that are no places in it count as not there; so does a node past the end, which is about to go.
     *
     * @param all in any order
     */
    record Names(Collection<String> all) {

        /**
         * The nearest that has to go first.
         *
         * @param own null for a node that would be the last
         * @param kind what the node in question wants
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

        /** Those in front, in no order; no more than that many. */
        List<QueueNode> someInFront(@Nullable QueueNode own, int most) {
            return all.stream()
                    .filter(name -> isInFront(QueueNode.sequenceOf(name), name, own))
                    .map(QueueNode::parse)
                    .filter(Objects::nonNull)
                    .map(Objects::requireNonNull)
                    .limit(most)
                    .toList();
        }

        /** How many are in front, some that are no places perhaps included: they, too, take room in a list. */
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
