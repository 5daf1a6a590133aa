package io.holdfast.zookeeper.internal.queue;

import io.holdfast.spi.LockKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of one queue that a session knows. They show which of its claims is first. Up to a certain number, all nodes that may exist are
 * known. {@link LockQueue} decides whether that is still true.
 *
 * @param <C> a claim of the session
 */
final class KnownNodes<C> {

    static final int NOTHING = -1;

    private final NodeMap<C> waiting = new NodeMap<>();
    private final NodeMap<C> holding = new NodeMap<>();

    /** The nodes of other clients, and of claims of the session that may have another node, too. */
    private final NodeMap<Boolean> others = new NodeMap<>();

    private int upTo = NOTHING;

    /** All nodes up to this number are known, except those of the session's claims that have ended. */
    int upTo() {
        return upTo;
    }

    void knowUpTo(int sequence) {
        upTo = sequence;
    }

    void forgetOthers() {
        upTo = NOTHING;
        others.clear();
    }

    void waits(QueueNode node, C claim) {
        boolean unused = removeOther(node);
        waiting.put(node, claim);
    }

    void holds(QueueNode node) {
        C claim = waiting.remove(node);
        if (claim != null) {
            holding.put(node, claim);
        }
    }

    /** The node holds the lock as a reader from now on. Returns whether it was known as a writer. */
    boolean reads(QueueNode node) {
        return reads(holding, node) || reads(others, node);
    }

    private static <V> boolean reads(NodeMap<V> map, QueueNode node) {
        V value = map.remove(node);
        if (value != null) {
            map.put(node.asReader(), value);
        }
        return value != null;
    }

    /** Removes a node of the session. Returns whether it belonged to a claim that waited or held. */
    boolean removeOwn(QueueNode node) {
        return waiting.remove(node) != null || holding.remove(node) != null; // a node is in one map only
    }

    boolean removeOther(QueueNode node) {
        return others.remove(node) != null;
    }

    void addOther(QueueNode node) {
        others.put(node, true);
    }

    /** Replaces what was known of other clients' nodes up to that number. */
    void replaceOthers(int sequence, Collection<QueueNode> there, Predicate<QueueNode> isGone) {
        if (sequence >= upTo) {
            others.clear();
        } else {
            others.removeUpTo(sequence);
        }
        there.stream().filter(it -> !isOwn(it) && !isGone.test(it)).forEach(this::addOther);
        upTo = Math.max(upTo, sequence);
    }

    /** Returns the claims of the session up to that number whose nodes are not in the collection. */
    List<C> missing(int sequence, Collection<QueueNode> there) {
        List<C> missing = new ArrayList<>();
        for (NodeMap<C> own : List.of(waiting, holding)) {
            for (Map.Entry<QueueNode, C> entry : own.entries()) {
                if (entry.getKey().sequence() > sequence) {
                    break;
                }
                if (!there.contains(entry.getKey())) {
                    missing.add(entry.getValue());
                }
            }
        }
        return missing;
    }

    boolean isOwn(QueueNode node) {
        return waiting.contains(node) || holding.contains(node);
    }

    boolean hasClaims() {
        return !waiting.isEmpty() || !holding.isEmpty();
    }

    /** Returns the greatest number of a claim of the session. */
    int lastOwn() {
        return Math.max(waiting.lastSequence(NOTHING), holding.lastSequence(NOTHING));
    }

    int ownCount() {
        return waiting.size() + holding.size();
    }

    int otherCount() {
        return others.size();
    }

    /** Returns the first waiting claim; null without one. */
    @Nullable
    C firstWaiting() {
        return waiting.firstValue();
    }

    @Nullable
    C waitingAt(QueueNode node) {
        return waiting.get(node);
    }

    /** Whether a claim of the session blocks a later node of that kind. */
    boolean ownBlocks(LockKind kind) {
        return waiting.blocks(kind) || holding.blocks(kind);
    }

    LockQueue.Position position(QueueNode node) {
        if (isBehindOwn(node)) {
            return LockQueue.Position.BEHIND;
        }
        if (!isKnown(node)) {
            return LockQueue.Position.UNKNOWN;
        }
        return otherInFront(node) == null ? LockQueue.Position.FIRST : LockQueue.Position.BEHIND;
    }

    private boolean isBehindOwn(QueueNode node) {
        return isBehindWaiting(node) || holding.blockerOf(node) != null;
    }

    boolean isBehindWaiting(QueueNode node) {
        return waiting.blockerOf(node) != null;
    }

    /** Returns the nearest node of another client that blocks this one; null without one. */
    @Nullable
    QueueNode otherInFront(QueueNode node) {
        return others.blockerOf(node);
    }

    /** Returns how many nodes of other clients block this one: 0, 1, or 2 for two and more. */
    int othersInFrontUpToTwo(QueueNode node) {
        return others.blockersUpToTwo(node);
    }

    boolean isKnown(QueueNode node) {
        return node.sequence() <= upTo;
    }

    /** Returns the claims that may take the lock now, in their order. */
    List<C> first() {
        List<C> first = new ArrayList<>();
        QueueNode before = null;
        for (Map.Entry<QueueNode, C> entry : waiting.entries()) {
            if (!isFirst(entry.getKey(), before)) {
                break; // all later claims wait for the same node, or for this claim
            }
            before = entry.getKey();
            first.add(entry.getValue());
        }
        return first;
    }

    /** Returns the node of the first claim that cannot take the lock; null without one. All later claims wait for it, or for the same node. */
    @Nullable
    QueueNode firstBehind() {
        QueueNode before = null;
        for (Map.Entry<QueueNode, C> entry : waiting.entries()) {
            if (!isFirst(entry.getKey(), before)) {
                return entry.getKey();
            }
            before = entry.getKey();
        }
        return null;
    }

    /**
     * Whether a waiting claim may take the lock.
     *
     * @param before the waiting claim just in front of it, which may take the lock; null without one
     */
    private boolean isFirst(QueueNode node, @Nullable QueueNode before) {
        return before == null
                ? position(node) == LockQueue.Position.FIRST
                : isKnown(node)
                        && !before.blocks(node.kind())
                        && !others.blocksBetween(before, node)
                        && !holding.blocksBetween(before, node);
    }
}
