package io.holdfast.zookeeper.internal.queue;

import io.holdfast.LockKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
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

    private final NavigableMap<QueueNode, C> waiting = new TreeMap<>(QueueNode.ORDER);
    private final NavigableMap<QueueNode, C> holding = new TreeMap<>(QueueNode.ORDER);

    /** The nodes of the claims that wait or hold. */
    final Line own = new Line();

    /** The nodes of other clients, and of claims of the session that may have another node, too. */
    final Line others = new Line();

    final Line all = new Line();

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
        all.forgetReports();
        replaceOthers(NOTHING, List.of(), it -> true);
    }

    void waits(QueueNode node, C claim) {
        boolean unused = removeOther(node);
        waiting.put(node, claim);
        own.add(node);
        all.add(node);
    }

    void holds(QueueNode node) {
        C claim = waiting.remove(node);
        if (claim != null) {
            holding.put(node, claim);
        }
    }

    /** The node holds the lock as a reader from now on. */
    void reads(QueueNode node) {
        C claim = holding.get(node);
        if (claim != null) {
            boolean unused = removeOwn(node);
            waits(node.asReader(), claim);
            holds(node.asReader());
        } else if (removeOther(node)) {
            addOther(node.asReader());
        }
    }

    /** Removes a node of the session. Returns whether it belonged to a claim that waited or held. */
    boolean removeOwn(QueueNode node) {
        boolean wasOwn = waiting.remove(node) != null || holding.remove(node) != null; // a node is in one map only
        return wasOwn && own.remove(node) && all.remove(node);
    }

    boolean removeOther(QueueNode node) {
        return others.remove(node) && all.remove(node);
    }

    void addOther(QueueNode node) {
        others.add(node);
        all.add(node);
    }

    /** Replaces what was known of other clients' nodes up to that number. */
    void replaceOthers(int sequence, Collection<QueueNode> there, Predicate<QueueNode> isGone) {
        Set<QueueNode> now = new HashSet<>(there);
        now.removeIf(it -> isOwn(it) || isGone.test(it));
        for (QueueNode former : List.copyOf(others.nodes())) {
            if (!now.contains(former) && (sequence >= upTo || former.sequence() <= sequence)) {
                boolean unused = removeOther(former);
            }
        }
        now.forEach(this::addOther);
        upTo = Math.max(upTo, sequence);
    }

    /** Returns the claims of the session up to that number whose nodes are not in the collection. */
    List<C> missing(int sequence, Collection<QueueNode> there) {
        List<C> missing = new ArrayList<>();
        for (NavigableMap<QueueNode, C> map : List.of(waiting, holding)) {
            map.forEach((node, claim) -> {
                if (node.sequence() <= sequence && !there.contains(node)) {
                    missing.add(claim);
                }
            });
        }
        return missing;
    }

    boolean isOwn(QueueNode node) {
        return own.contains(node);
    }

    boolean hasClaims() {
        return own.size() > 0;
    }

    /** Returns the greatest number of a claim of the session. */
    int lastOwn() {
        return hasClaims() ? own.nodes().last().sequence() : NOTHING;
    }

    /** Returns the first waiting claim; null without one. */
    @Nullable
    C firstWaiting() {
        return waiting.isEmpty() ? null : waiting.firstEntry().getValue();
    }

    @Nullable
    C waitingAt(QueueNode node) {
        return waiting.get(node);
    }

    LockQueue.Position position(QueueNode node) {
        if (!own.holds(node)) {
            return LockQueue.Position.BEHIND;
        }
        if (!isKnown(node)) {
            return LockQueue.Position.UNKNOWN;
        }
        return all.holds(node) ? LockQueue.Position.FIRST : LockQueue.Position.BEHIND;
    }

    /** Whether a claim in front of this one must get the lock and release it first. */
    boolean isBehindWaiting(QueueNode node) {
        QueueNode first = waiting.firstKey();
        return QueueNode.ORDER.compare(first, node) < 0 && first.blocks(node.kind());
    }

    /** Whether another client has to release the lock more than once before this node can get it. */
    boolean isBehindSeveral(QueueNode node) {
        return node.kind() == LockKind.SEMAPHORE ? !all.isAtTheHead(node) : others.hasSeveralInFront(node);
    }

    boolean isKnown(QueueNode node) {
        return node.sequence() <= upTo;
    }

    /** Returns the claims that may take the lock now, in their order. */
    List<C> first() {
        QueueNode behind = firstBehind();
        return List.copyOf((behind == null ? waiting : waiting.headMap(behind, false)).values());
    }

    /** Returns the node of the first claim that cannot take the lock; null without one. No later claim can. */
    @Nullable
    QueueNode firstBehind() {
        for (QueueNode node : waiting.keySet()) {
            if (!isFirst(node)) {
                return node;
            }
        }
        return null;
    }

    private boolean isFirst(QueueNode node) {
        return isKnown(node) && all.holds(node);
    }

    /** Whether the next node surely belongs to a claim of the session. */
    boolean isFollowedByOwn(QueueNode node) {
        QueueNode next = all.nodes().higher(node);
        return next != null && isOwn(next) && (isKnown(next) || next.sequence() == node.sequence() + 1);
    }
}
