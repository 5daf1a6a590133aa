package io.holdfast.zookeeper.internal.queue;

import io.holdfast.spi.LockKind;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
 *   <li>A writer that has become a reader keeps its name. The data of its node tells, which a claim reads that waits for it; from then on the
 *       session takes it for a reader.
 *   <li>When the connection is lost, all that was known of others is forgotten.
 * </ul>
 *
 * @param <C> a claim of the session
 */
public class LockQueue<C> {

    private static final int NOTHING = KnownNodes.NOTHING;

    /** How a node stands. */
    public enum Position {
        /** It has the lock, or may take it. */
        FIRST,
        /** Another node has to go first. */
        BEHIND,
        /** Nodes may be in front that are not known: a list tells. */
        UNKNOWN
    }

    private final KnownNodes<C> nodes = new KnownNodes<>();
    private final ListsUnderWay lists = new ListsUnderWay();

    /** Nodes of claims that have ended, until their deletion is acknowledged. */
    private final Set<String> leaving = new HashSet<>();

    /** Nodes with the name of a writer that are readers', as long as they may be there. */
    private final Set<String> readers = new HashSet<>();

    private int creations;
    private int newest = NOTHING;
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
        return nodes.ownBlocks(kind) || (wasAlone && isContinuous());
    }

    /** Whether the numbers are surely those that they were. */
    public boolean isContinuous() {
        return nodes.upTo() != NOTHING && (isGuarded || nodes.hasClaims());
    }

    /** Whether it was used before, so that it is likely to be used again, and the server was not asked yet to tell when it is deleted. */
    public boolean wantsGuard() {
        return nodes.upTo() != NOTHING && !isGuardAsked;
    }

    public void guardAsked() {
        isGuardAsked = true;
    }

    /** The server tells when the queue is deleted, before it answers what comes later; and the queue has a node of the session now. */
    public void guarded() {
        isGuarded = nodes.hasClaims();
        isGuardAsked = isGuarded;
    }

    /** A creation is sent. Until it is answered, this is not to be forgotten. */
    public void entering() {
        creations++;
    }

    /** The creation was answered, with or without a node, or could not be sent. */
    public void enteringAnswered() {
        creations--;
    }

    /** The server has made the node for the claim. */
    public void entered(QueueNode node, C claim) {
        if (node.sequence() <= newest) {
            lists.invalidate(); // the queue was made anew
        }
        newest = node.sequence();
        boolean isNext = node.sequence() == nodes.upTo() + 1;
        wasAlone = nodes.upTo() == NOTHING || isNext;
        if (isContinuous() && isNext) {
            nodes.knowUpTo(node.sequence());
        } else if (!isContinuous() || nodes.isKnown(node)) {
            forgetOthers(); // the numbers may have begun again
        }
        adopted(node, claim);
    }

    /** A node that was made before turned out to be the claim's. */
    public void adopted(QueueNode node, C claim) {
        nodes.waits(node, claim);
    }

    /** The claim may have an earlier node. Until that is known, the node is in the way as if it were another client's. */
    public void isDoubtful(QueueNode node) {
        if (nodes.removeOwn(node)) {
            nodes.addOther(node);
        }
    }

    public void holds(QueueNode node) {
        nodes.holds(node);
    }

    /** The writer with that node has become a reader. */
    public void reads(QueueNode node) {
        readers.add(node.name());
        boolean unused = nodes.reads(node);
        if (node.name().equals(watched)) {
            watched = null;
        }
    }

    /** The claim has ended: from now on its node blocks no other claim of the session. */
    public void leaves(QueueNode node) {
        if (nodes.removeOwn(node)) {
            leaving.add(node.name());
        }
    }

    /** Whether that node is of a claim that waits or holds; of one that was given up it is not, even if its deletion failed. */
    public boolean has(QueueNode node) {
        return nodes.isOwn(node);
    }

    /**
     * A node is surely not there.
     *
     * @return whether that may let a claim pass
     */
    public boolean gone(String name) {
        lists.gone(name);
        leaving.remove(name);
        readers.remove(name);
        if (name.equals(watched)) {
            watched = null;
            isOld = true;
        }
        QueueNode node = QueueNode.parse(name);
        return node != null && (nodes.removeOther(node) || nodes.removeOwn(node)); // a node is in one of them
    }

    public boolean isReading() {
        return lists.areUnderWay();
    }

    /**
     * A list was asked for.
     *
     * @return what {@link #namesRead} has to be told
     */
    public int namesAsked() {
        return lists.asked();
    }

    /** A list that is asked for now has all nodes up to this number that are there. */
    public int lastNumber() {
        return nodes.lastOwn();
    }

    /** It was not answered. */
    public void namesNotRead() {
        lists.answered();
    }

    /**
     * The list was answered.
     *
     * @param asked what {@link #namesAsked} gave
     * @param upTo the number of a node that was made before the list was read
     * @param listed those of the list, up to that number
     * @return claims whose nodes are not there any more
     */
    public List<C> namesRead(int asked, int upTo, List<QueueNode> listed) {
        if (!lists.isCurrent(asked)) {
            lists.answered();
            return List.of();
        }
        Set<QueueNode> there = new HashSet<>();
        readers.removeIf(name -> !isOwn(name) && !areNamed(listed, name));
        for (QueueNode node : listed) {
            there.add(readers.contains(node.name()) ? node.asReader() : node);
        }
        nodes.replaceOthers(upTo, there, it -> leaving.contains(it.name()) || lists.isGone(it.name()));
        isOld = false;
        lists.answered();
        return nodes.missing(upTo, there);
    }

    public Position position(QueueNode node) {
        return nodes.position(node);
    }

    /** Claims that may take the lock now, in their order. */
    public List<C> first() {
        return nodes.first();
    }

    /** The first claim that waits; null without one. */
    public @Nullable C firstWaiting() {
        return nodes.firstWaiting();
    }

    /**
     * The node that the claim waits for, and has to hear of by a watch of its own.
     *
     * @return null when it waits for what others of the session wait for, or for one of them
     */
    public @Nullable QueueNode blockerToWatch(QueueNode node) {
        return node.equals(nodes.firstBehind()) && nodes.isKnown(node) ? nodes.otherInFront(node) : null;
    }

    /** What the first claim that waits needs, and has not. */
    public QueueNeed need() {
        QueueNode node = nodes.firstBehind();
        if (node == null) {
            return new QueueNeed.Nothing();
        }
        if (!nodes.isKnown(node)) {
            // A claim of the session that waits in front will ask.
            return nodes.isBehindWaiting(node) ? new QueueNeed.Nothing() : new QueueNeed.Names();
        }
        QueueNode blocker = nodes.otherInFront(node);
        if (blocker == null || blocker.name().equals(watched)) {
            return new QueueNeed.Nothing();
        }
        return isOld && nodes.othersInFrontUpToTwo(node) == 2 ? new QueueNeed.Names() : new QueueNeed.Watch(blocker);
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
    public @Nullable C next() {
        QueueNode node = nodes.firstBehind();
        if (node == null || !nodes.isKnown(node) || nodes.isBehindWaiting(node)) {
            return null;
        }
        return nodes.othersInFrontUpToTwo(node) == 1 ? nodes.waitingAt(node) : null;
    }

    /** At least as many places as there are, up to that node. */
    public int mostPlaces(QueueNode last) {
        int unknown = Math.max(0, last.sequence() - nodes.upTo());
        return nodes.otherCount() + nodes.ownCount() + leaving.size() + unknown;
    }

    /** Events may have been missed, or the queue was deleted. */
    public void forgetAll() {
        lists.invalidate();
        forgetOthers();
        readers.removeIf(name -> !isOwn(name));
        isGuarded = false;
        isGuardAsked = false;
        wasAlone = true;
    }

    private void forgetOthers() {
        nodes.forgetOthers();
        isOld = false;
        watched = null;
    }

    private static boolean areNamed(List<QueueNode> listed, String name) {
        return listed.stream().anyMatch(node -> node.name().equals(name));
    }

    private boolean isOwn(String name) {
        QueueNode node = QueueNode.parse(name);
        return node != null && nodes.isOwn(node);
    }

    /** How many names it keeps that are not of claims of the session, for tests. */
    int remembered() {
        return nodes.otherCount() + leaving.size() + lists.remembered();
    }

    public boolean isForgettable() {
        return !nodes.hasClaims() && !lists.areUnderWay() && creations == 0;
    }
}
