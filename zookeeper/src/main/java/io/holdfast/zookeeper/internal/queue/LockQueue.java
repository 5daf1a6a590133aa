package io.holdfast.zookeeper.internal.queue;

import io.holdfast.spi.LockKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What one session knows of the queue of one mutex or read/write lock: enough to tell which of its claims holds the lock, often without a
 * request.
 *
 * <ul>
 *   <li>Numbers rise with each creation. A list that is read after a creation has every node in it that has a lower number and is still
 *       there. So up to some number <i>all nodes that may be there are known</i>. A node is forgotten when its deletion is heard of, or when a
 *       later list of the same session is without it; a node that is known and gone only delays a grant.
 *   <li>A new node of the session with the next number makes the known part longer by one: no other client came in between. That holds as
 *       long as the queue itself was not deleted, since its numbers begin again then. The server does not delete a queue that has a node in
 *       it; an empty one is {@linkplain #guarded watched}.
 *   <li>Nodes of the session whose claims have ended do not count, although the server may still have them: those claims never take the
 *       lock again, and all that come later in the queue wait for both nodes.
 *   <li>When the connection is lost, all that was known of others is forgotten.
 * </ul>
 *
 * @param <C> a claim of the session
 */
public class LockQueue<C> {

    private static final int NOTHING = -1;

    /** Lists may be under way at all times. A node that is taken for being there, and is gone, only delays a grant. */
    private static final int MOST_GONE = 1_000;

    /** How a node stands. */
    public enum Position {
        /** It has the lock, or may take it. */
        FIRST,
        /** Another node has to go first. */
        BEHIND,
        /** Nodes may be in front that are not known: a list tells. */
        UNKNOWN
    }

    /** What is to be done for the first claim that waits. */
    public sealed interface Need {

        /** No claim waits, or it waits for one of its own session, or it may take the lock. */
        record Nothing() implements Need {}

        /** The end of that node. */
        record Watch(QueueNode node) implements Need {}

        /** The names in the queue. */
        record Names() implements Need {}
    }

    private final NavigableMap<QueueNode, C> waiting = new TreeMap<>(QueuePosition.Names.ORDER);
    private final NavigableMap<QueueNode, C> holding = new TreeMap<>(QueuePosition.Names.ORDER);
    private final NavigableSet<QueueNode> others = new TreeSet<>(QueuePosition.Names.ORDER);

    /** Nodes of claims that have ended, until their deletion is acknowledged. */
    private final Set<String> leaving = new HashSet<>();

    /** What was heard to be gone while a list was being read: the list may be older. */
    private final Set<String> goneMeanwhile = new HashSet<>();

    private int creations;
    private int readings;

    /** Rises when what was asked for before says nothing any more. */
    private int era;

    private int newest = NOTHING;
    private int knownUpTo = NOTHING;
    private boolean isGuarded;
    private boolean isGuardAsked;
    private boolean wasAlone = true;

    /** Whether the one that was watched is gone, and others in front of it may be, too. */
    private boolean isOld;

    private @Nullable String watched;

    /** For subclasses of the same package: simulations of mistakes. */
    LockQueue() {}

    /** Knows nothing yet. */
    public static <C> LockQueue<C> create() {
        return new LockQueue<>();
    }

    /** Whether a claim that enters now learns all that it has to know from the number that it gets, unless another client comes in between. */
    public boolean mayDoWithoutList(LockKind kind) {
        return isBlockedByOwn(kind) || (wasAlone && isContinuous());
    }

    private boolean isBlockedByOwn(LockKind kind) {
        return nearest(waiting.navigableKeySet(), kind) != null || nearest(holding.navigableKeySet(), kind) != null;
    }

    /** Whether the numbers are surely those that they were. */
    boolean isContinuous() {
        return knownUpTo != NOTHING && (isGuarded || hasClaims());
    }

    boolean hasClaims() {
        return !waiting.isEmpty() || !holding.isEmpty();
    }

    /** Whether it was used before, so that it is likely to be used again, and the server was not asked yet to tell when it is deleted. */
    public boolean wantsGuard() {
        return knownUpTo != NOTHING && !isGuardAsked;
    }

    public void guardAsked() {
        isGuardAsked = true;
    }

    /** The server tells when the queue is deleted, before it answers what comes later; and the queue has a node of the session now. */
    public void guarded() {
        isGuarded = hasClaims();
        isGuardAsked = isGuarded;
    }

    /** A creation is sent. Until it is answered, this is not to be forgotten. */
    public void entering() {
        creations++;
    }

    /** It was answered, whatever the answer is, or could not be sent. */
    public void enteringAnswered() {
        creations--;
    }

    /** The server has made the node for the claim. */
    public void entered(QueueNode node, C claim) {
        if (node.sequence() <= newest) {
            era++; // the queue was made anew
        }
        newest = node.sequence();
        boolean isNext = node.sequence() == knownUpTo + 1;
        wasAlone = knownUpTo == NOTHING || isNext;
        if (isContinuous() && isNext) {
            knownUpTo = node.sequence();
        } else if (!isContinuous() || node.sequence() <= knownUpTo) {
            forgetOthers(); // the numbers may have begun again
        }
        adopted(node, claim);
    }

    /** A node that was made before turned out to be the claim's. */
    public void adopted(QueueNode node, C claim) {
        others.remove(node);
        waiting.put(node, claim);
    }

    /** The claim may have an earlier node. Until that is known, the node is in the way as if it were another client's. */
    public void isDoubtful(QueueNode node) {
        if (forget(node)) {
            others.add(node);
        }
    }

    public void holds(QueueNode node) {
        C claim = waiting.remove(node);
        if (claim != null) {
            holding.put(node, claim);
        }
    }

    /** The claim has ended: from now on its node blocks no other claim of the session. */
    public void leaves(QueueNode node) {
        if (forget(node)) {
            leaving.add(node.name());
        }
    }

    /** Whether that node is of a claim that waits or holds; of one that was given up it is not, even if its deletion failed. */
    public boolean has(QueueNode node) {
        return waiting.containsKey(node) || holding.containsKey(node);
    }

    private boolean forget(QueueNode node) {
        boolean waited = waiting.remove(node) != null;
        return holding.remove(node) != null || waited;
    }

    /**
     * A node is surely not there.
     *
     * @return whether that may let a claim pass
     */
    public boolean gone(String name) {
        if (readings > 0) {
            if (goneMeanwhile.size() >= MOST_GONE) {
                goneMeanwhile.clear();
            }
            goneMeanwhile.add(name);
        }
        leaving.remove(name);
        if (name.equals(watched)) {
            watched = null;
            isOld = true;
        }
        QueueNode node = QueueNode.parse(name);
        return node != null && (others.remove(node) || forget(node)); // a node is in one of them
    }

    public boolean isReading() {
        return readings > 0;
    }

    /**
     * A list was asked for.
     *
     * @return what {@link #namesRead} has to be told
     */
    public int namesAsked() {
        readings++;
        return era;
    }

    /** A list that is asked for now has all nodes up to this number that are there. */
    public int lastNumber() {
        int last = waiting.isEmpty() ? NOTHING : waiting.lastKey().sequence();
        return holding.isEmpty() ? last : Math.max(last, holding.lastKey().sequence());
    }

    /** It was not answered. */
    public void namesNotRead() {
        readings--;
        if (readings == 0) {
            goneMeanwhile.clear();
        }
    }

    /** Those of a list that may be in front of a node with that number. Touches nothing of the queue. */
    public static List<QueueNode> nodesUpTo(int upTo, Collection<String> names) {
        List<QueueNode> nodes = new ArrayList<>();
        for (String name : names) {
            int sequence = QueueNode.sequenceOf(name);
            QueueNode node = sequence >= 0 && sequence <= upTo ? QueueNode.parse(name) : null;
            if (node != null) {
                nodes.add(node);
            }
        }
        return nodes;
    }

    /**
     * The list was answered.
     *
     * @param asked what {@link #namesAsked} gave
     * @param upTo the number of a node that was made before the list was read
     * @param nodes those of the list, up to that number
     * @return claims whose nodes are not there any more
     */
    public List<C> namesRead(int asked, int upTo, List<QueueNode> nodes) {
        if (asked != era) {
            namesNotRead();
            return List.of();
        }
        Set<QueueNode> there = new HashSet<>(nodes);
        if (upTo >= knownUpTo) {
            others.clear();
        } else {
            others.removeIf(it -> it.sequence() <= upTo);
        }
        for (QueueNode node : there) {
            boolean isOwn = waiting.containsKey(node) || holding.containsKey(node) || leaving.contains(node.name());
            if (!isOwn && !goneMeanwhile.contains(node.name())) {
                others.add(node);
            }
        }
        knownUpTo = Math.max(knownUpTo, upTo);
        isOld = false;
        namesNotRead();
        List<C> missing = new ArrayList<>();
        for (NavigableMap<QueueNode, C> own : List.of(waiting, holding)) {
            own.forEach((node, claim) -> {
                if (node.sequence() <= upTo && !there.contains(node)) {
                    missing.add(claim);
                }
            });
        }
        return missing;
    }

    public Position position(QueueNode node) {
        if (isBehindOwn(node)) {
            return Position.BEHIND;
        }
        if (node.sequence() > knownUpTo) {
            return Position.UNKNOWN;
        }
        return nearest(others.headSet(node, false), node.kind()) == null ? Position.FIRST : Position.BEHIND;
    }

    private boolean isBehindOwn(QueueNode node) {
        return nearest(waiting.headMap(node, false).navigableKeySet(), node.kind()) != null
                || nearest(holding.headMap(node, false).navigableKeySet(), node.kind()) != null;
    }

    /** Claims that may take the lock now, in their order. */
    public List<C> first() {
        List<C> first = new ArrayList<>();
        QueueNode before = null;
        for (Map.Entry<QueueNode, C> entry : waiting.entrySet()) {
            if (!isFirst(entry.getKey(), before)) {
                break; // all claims behind it wait for the same node, or for this claim
            }
            before = entry.getKey();
            first.add(entry.getValue());
        }
        return first;
    }

    /**
     * Whether a claim that waits may take the lock. Thousands of readers may: each looks only at what is between it and the one before.
     *
     * @param before the claim that waits next in front of it, and may take the lock; null without one
     */
    private boolean isFirst(QueueNode node, @Nullable QueueNode before) {
        if (before == null) {
            return position(node) == Position.FIRST;
        }
        return !blocks(before, node.kind())
                && node.sequence() <= knownUpTo
                && nearest(others.subSet(before, false, node, false), node.kind()) == null
                && nearest(holding.subMap(before, false, node, false).navigableKeySet(), node.kind()) == null;
    }

    /** The first claim that cannot take the lock; null when there is none. All others wait for it, or for the same. */
    private @Nullable QueueNode firstBehind() {
        QueueNode before = null;
        for (QueueNode node : waiting.keySet()) {
            if (!isFirst(node, before)) {
                return node;
            }
            before = node;
        }
        return null;
    }

    /** The first claim that waits; null without one. */
    @Nullable
    public C firstWaiting() {
        Map.Entry<QueueNode, C> first = waiting.firstEntry();
        return first == null ? null : first.getValue();
    }

    /**
     * The node that the claim waits for, and has to hear of by a watch of its own.
     *
     * @return null when it waits for what others of the session wait for, or for one of them
     */
    @Nullable
    public QueueNode blockerToWatch(QueueNode node) {
        boolean isFirst = node.equals(firstBehind()) && node.sequence() <= knownUpTo;
        return isFirst ? nearest(others.headSet(node, false), node.kind()) : null;
    }

    /** What the first claim that waits needs, and has not. */
    public Need need() {
        QueueNode node = firstBehind();
        if (node == null) {
            return new Need.Nothing();
        }
        if (node.sequence() > knownUpTo) {
            return mayBeListed(node) ? new Need.Names() : new Need.Nothing();
        }
        QueueNode blocker = nearest(others.headSet(node, false), node.kind());
        if (blocker == null || blocker.name().equals(watched)) {
            return new Need.Nothing();
        }
        return isOld && othersInFront(node, 2) == 2 ? new Need.Names() : new Need.Watch(blocker);
    }

    /** Not as long as an earlier claim of the session waits: this is not the first behind then. */
    private boolean mayBeListed(QueueNode node) {
        return nearest(waiting.headMap(node, false).navigableKeySet(), node.kind()) == null;
    }

    public void watching(QueueNode node) {
        watched = node.name();
    }

    /** The watch is not in force. */
    public void notWatching(QueueNode node) {
        if (node.name().equals(watched)) {
            watched = null;
        }
    }

    @Nullable
    String watched() {
        return watched;
    }

    /** The claim that gets the lock after the next release by another session, or before; null when none does. */
    @Nullable
    public C next() {
        QueueNode node = firstBehind();
        boolean isNext = node != null
                && node.sequence() <= knownUpTo
                && othersInFront(node, 2) == 1
                && nearest(waiting.headMap(node, false).navigableKeySet(), node.kind()) == null;
        return isNext ? waiting.get(node) : null;
    }

    private int othersInFront(QueueNode node, int most) {
        int count = 0;
        Iterator<QueueNode> inFront = others.headSet(node, false).iterator();
        while (inFront.hasNext() && count < most) {
            count += blocks(inFront.next(), node.kind()) ? 1 : 0;
        }
        return count;
    }

    private static @Nullable QueueNode nearest(NavigableSet<QueueNode> inFront, LockKind kind) {
        for (QueueNode node : inFront.descendingSet()) {
            if (blocks(node, kind)) {
                return node;
            }
        }
        return null;
    }

    private static boolean blocks(QueueNode inFront, LockKind kind) {
        return kind != LockKind.READ || inFront.kind() == LockKind.WRITE;
    }

    /** At least as many places as there are, up to that node. */
    public int mostPlaces(QueueNode last) {
        int own = waiting.size() + holding.size() + leaving.size();
        return others.size() + own + Math.max(0, last.sequence() - Math.max(knownUpTo, NOTHING));
    }

    /** Events may have been missed, or the queue was deleted. */
    public void forgetAll() {
        era++;
        forgetOthers();
        isGuarded = false;
        isGuardAsked = false;
        wasAlone = true;
    }

    private void forgetOthers() {
        knownUpTo = NOTHING;
        others.clear();
        isOld = false;
        watched = null;
    }

    /** How many names it keeps that are not of claims of the session, for tests. */
    int remembered() {
        return others.size() + leaving.size() + goneMeanwhile.size();
    }

    public boolean isForgettable() {
        return !hasClaims() && readings == 0 && creations == 0;
    }
}
