package io.holdfast.zookeeper.internal.queue;

import io.holdfast.LockKind;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one session knows of the queue of one lock. That is enough to decide which of its claims holds the lock, often
 * without a request.
 *
 * <ul>
 * <li>Numbers rise with each creation. A list that is read after a creation contains every existing node with a lower number. So up to a
 * certain number, <i>all nodes that may exist are known</i>. A node is forgotten when its deletion is reported, or when a later list of the
 * same session does not contain it. A known node that was deleted only delays a grant.
 * <li>A new node of the session with the next number extends the known part by one: no other client came in between. That is true unless
 * the queue itself was deleted, since its numbers then start again. The server does not delete a queue that contains a node. An empty queue
 * is {@linkplain #guarded watched}.
 * <li>Nodes of the session whose claims have ended do not count, although the server may still have them. Those claims never take the lock
 * again, and all later claims wait for both nodes.
 * <li>A writer that has become a reader keeps its name. The data of its node shows the change. A claim that waits for it reads the data,
 * and then the session counts the node as a reader.
 * <li>A claim for a permit waits for the nearest node that does not hold, or for a change of the names if all nodes in front hold. When a
 * client gets a permit, no node is deleted. So it marks its node for the waiter behind it.
 * <li>When the connection is lost, all nodes of other clients are forgotten.
 * </ul>
 *
 * @param <C> a claim of the session
 */
public class LockQueue<C> {

    private static final int NOTHING = KnownNodes.NOTHING;

    /** The position of a node. */
    public enum Position {
        /** The node has the lock, or may take it. */
        FIRST,
        /** Another node comes first. */
        BEHIND,
        /** Unknown nodes may be in front. A list will show them. */
        UNKNOWN
    }

    private enum Presence {
        UNKNOWN,
        THERE,
        MISSING
    }

    private final KnownNodes<C> nodes = new KnownNodes<>();
    private final ListsUnderWay lists = new ListsUnderWay();

    /** Nodes of claims that have ended, until the server acknowledges their deletion. */
    private final Map<String, QueueNode> leaving = new HashMap<>();

    /** Nodes with the name of a writer that belong to readers, as long as they may exist. */
    private final Set<String> readers = new HashSet<>();

    /** Whether the server had the queue last. It deletes empty queues at any time. */
    private Presence presence = Presence.UNKNOWN;

    private int creations;
    private int newest = NOTHING;
    private boolean isGuarded;
    private boolean isGuardAsked;

    /** Whether a claim relies on an answer that another claim gets. */
    private boolean isAwaited;

    private boolean wasAlone = true;

    /** Whether the watched node was deleted, so that other nodes in front may be deleted, too. */
    private boolean isOld;

    private @Nullable String watched;

    /** Whether the server reports the next change of the names. */
    private boolean areNamesWatched;

    /** For subclasses in the same package: simulations of mistakes. */
    LockQueue() {}

    /** Returns a queue that knows nothing yet. */
    public static <C> LockQueue<C> create() {
        return new LockQueue<>();
    }

    /** Whether the number of its node will be enough for a claim that enters now, unless another client comes in between. */
    public boolean mayDoWithoutList(QueueNode newcomer) {
        return !nodes.own.admits(newcomer) || (wasAlone && isContinuous());
    }

    /** Whether the numbers surely have not started again. */
    public boolean isContinuous() {
        return nodes.upTo() != NOTHING && (isGuarded || nodes.hasClaims());
    }

    /** Whether the queue was used before, so that it is likely to be used again, and no watch for its deletion was requested yet. */
    public boolean wantsGuard() {
        return nodes.upTo() != NOTHING && !isGuardAsked;
    }

    public void guardAsked() {
        isGuardAsked = true;
    }

    /**
     * The watch is set: the server reports the deletion of the queue before it answers later requests. The queue contains a node of the
     * session now.
     */
    public void guarded() {
        isGuarded = nodes.hasClaims();
        isGuardAsked = isGuarded;
    }

    /**
     * Whether a claim that enters now should create the queue, too. If a creation is under way, this one comes behind it, to keep its order.
     *
     * @param isLikely whether a queue that is not known is likely to be missing
     */
    public boolean mayBegin(boolean isLikely) {
        return creations == 0 && (presence == Presence.MISSING || (presence == Presence.UNKNOWN && isLikely));
    }

    public boolean isUnknown() {
        return presence == Presence.UNKNOWN;
    }

    /** The server reported that it has the queue. */
    public void isThere() {
        presence = Presence.THERE;
    }

    /** The server reported that it does not have the queue. */
    public void isMissing() {
        forgetAll();
        presence = Presence.MISSING;
    }

    /** A creation is sent. The queue must not be forgotten until the answer. */
    public void entering() {
        creations++;
    }

    /** The creation was answered, with or without a node, or could not be sent. */
    public void enteringAnswered() {
        creations--;
    }

    /** The server has created the node for the claim. */
    public void entered(QueueNode node, C claim) {
        if (node.sequence() <= newest) {
            lists.invalidate(); // the queue was deleted and created again
        }
        newest = node.sequence();
        boolean isNext = node.sequence() == nodes.upTo() + 1;
        wasAlone = nodes.upTo() == NOTHING || isNext;
        if (isContinuous() && isNext) {
            nodes.knowUpTo(node.sequence());
        } else if (!isContinuous() || nodes.isKnown(node)) {
            forgetOthers(); // the numbers may have started again
        }
        adopted(node, claim);
    }

    /** The server has created the queue, and the node in it. No other node was there before. */
    public void begun(QueueNode node, C claim) {
        entered(node, claim);
        nodes.knowUpTo(node.sequence());
        isThere();
    }

    /** A node that was created earlier turned out to belong to the claim. */
    public void adopted(QueueNode node, C claim) {
        nodes.waits(node, claim);
    }

    /** The claim may have an earlier node. Until that is known, this node blocks like a node of another client. */
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
        nodes.reads(node);
        if (node.name().equals(watched)) {
            watched = null;
        }
    }

    /** The owner of another node has marked it as the node of a holder. */
    public void isHeld(QueueNode node) {
        nodes.all.isReported(node);
    }

    /**
     * Whether the holder must mark its node, because another client may wait until it holds.
     *
     * @param hasStood whether the claim was behind another node, or another one was behind it, before it held
     */
    public boolean owesMark(QueueNode holder, boolean hasStood) {
        if (holder.kind() != LockKind.SEMAPHORE || nodes.isFollowedByOwn(holder)) {
            return false;
        }
        long leavingPermits =
                leaving.values().stream().mapToLong(QueueNode::taken).sum();
        return hasStood
                || nodes.all.nodes().higher(holder) != null
                || !nodes.all.hasRoomFor(leavingPermits, holder.permits());
    }

    /** The claim has ended. From now on its node blocks no other claim of the session. */
    public void leaves(QueueNode node) {
        if (nodes.removeOwn(node)) {
            leaving.put(node.name(), node);
        }
    }

    /** Whether the node belongs to a claim that waits or holds. The node of a claim that has ended does not, even if its deletion failed. */
    public boolean has(QueueNode node) {
        return nodes.isOwn(node);
    }

    /**
     * The node surely does not exist any more.
     *
     * @return whether that may make another claim first
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
        return node != null && (nodes.removeOther(node) || nodes.removeOwn(node)); // a node is in one map only
    }

    public boolean isReading() {
        return lists.areUnderWay();
    }

    /**
     * A list was requested.
     *
     * @return the value to pass to {@link #namesRead}
     */
    public int namesAsked() {
        return lists.asked();
    }

    /** Returns the number up to which a list that is requested now contains all existing nodes. */
    public int lastNumber() {
        return nodes.lastOwn();
    }

    /** A claim may rely on the lists under way, or on another answer that a claim in front of it gets or has just got. */
    public void await() {
        isAwaited = true;
    }

    /** Returns whether a claim may have relied on an answer that has come. False from then on, unless another list is under way. */
    public boolean takeAwaited() {
        boolean wasAwaited = isAwaited;
        isAwaited &= isReading();
        return wasAwaited;
    }

    /** The list was not answered. */
    public void namesNotRead() {
        lists.answered();
    }

    /**
     * The list was answered.
     *
     * @param asked the result of {@link #namesAsked}
     * @param upTo the number of a node that was created before the list was read
     * @param listed the nodes of the list, up to that number
     * @return the claims whose nodes do not exist any more
     */
    public List<C> namesRead(int asked, int upTo, List<QueueNode> listed) {
        if (!lists.use(asked)) {
            lists.answered();
            return List.of();
        }
        Set<QueueNode> there = new HashSet<>();
        readers.removeIf(name -> !isOwn(name) && !areNamed(listed, name));
        for (QueueNode node : listed) {
            there.add(readers.contains(node.name()) ? node.asReader() : node);
        }
        nodes.replaceOthers(upTo, there, it -> leaving.containsKey(it.name()) || lists.isGone(it.name()));
        isOld = false;
        lists.answered();
        return nodes.missing(upTo, there);
    }

    /** Whether a list should also watch the names: the first waiter is behind nothing but holders, and other clients are among them. */
    public boolean watchesNames() {
        QueueNode node = nodes.firstBehind();
        return node != null && isAtTheHead(node);
    }

    /** Whether a claim for a permit has only holders in front. */
    public boolean isAtTheHead(QueueNode node) {
        return node.kind() == LockKind.SEMAPHORE
                && nodes.all.isAtTheHead(node)
                && nodes.others.nearestInFront(node) != null;
    }

    /** The server will report the next change of the names. */
    public void namesWatched() {
        areNamesWatched = true;
    }

    /** The server has reported a change of the names. */
    public void namesChanged() {
        areNamesWatched = false;
    }

    public Position position(QueueNode node) {
        return nodes.position(node);
    }

    /** Returns the claims that may take the lock now, in their order. */
    public List<C> first() {
        return nodes.first();
    }

    /** Returns the first waiting claim; null without one. */
    public @Nullable C firstWaiting() {
        return nodes.firstWaiting();
    }

    /**
     * Returns the node that the claim waits for, and for which it needs a watch of its own.
     *
     * @return null if it waits for another claim of the session, or for a node that such a claim watches
     */
    public @Nullable QueueNode blockerToWatch(QueueNode node) {
        return node.equals(nodes.firstBehind()) && nodes.isKnown(node) ? nodes.others.nearestInFront(node) : null;
    }

    /** Returns what the first waiter needs but does not have. */
    public QueueNeed need() {
        QueueNode node = nodes.firstBehind();
        if (node == null) {
            return new QueueNeed.Nothing();
        }
        if (!nodes.isKnown(node)) {
            // A claim of the session that waits in front will send the request.
            return nodes.isBehindWaiting(node) ? new QueueNeed.Nothing() : new QueueNeed.Names();
        }
        QueueNode blocker = nodes.others.nearestInFront(node);
        boolean isAtTheHead = isAtTheHead(node);
        if (blocker == null || (isAtTheHead ? areNamesWatched : blocker.name().equals(watched))) {
            return new QueueNeed.Nothing();
        }
        return isAtTheHead || (isOld && nodes.isBehindSeveral(node))
                ? new QueueNeed.Names()
                : new QueueNeed.Watch(blocker);
    }

    public void watching(QueueNode node) {
        watched = node.name();
    }

    /** The watch is not set any more. */
    public void notWatching(QueueNode node) {
        if (node.name().equals(watched)) {
            watched = null;
        }
    }

    @Nullable
    String watched() {
        return watched;
    }

    /** Returns the claim that gets the lock after the next release by another session, or before; null without one. */
    public @Nullable C next() {
        QueueNode node = nodes.firstBehind();
        if (node == null || !nodes.isKnown(node) || nodes.isBehindWaiting(node)) {
            return null;
        }
        return nodes.others.nearestInFront(node) != null && !nodes.isBehindSeveral(node) ? nodes.waitingAt(node) : null;
    }

    /** Returns an upper bound for the number of places up to that node. */
    public int mostPlaces(QueueNode last) {
        int unknown = Math.max(0, last.sequence() - nodes.upTo());
        return nodes.all.size() + leaving.size() + unknown;
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
        areNamesWatched = false;
    }

    private static boolean areNamed(List<QueueNode> listed, String name) {
        return listed.stream().anyMatch(node -> node.name().equals(name));
    }

    private boolean isOwn(String name) {
        QueueNode node = QueueNode.parse(name);
        return node != null && nodes.isOwn(node);
    }

    /** Returns how many names it keeps that do not belong to claims of the session, for tests. */
    int remembered() {
        return nodes.others.size() + leaving.size() + lists.remembered();
    }

    public boolean isForgettable() {
        return !nodes.hasClaims() && !lists.areUnderWay() && creations == 0;
    }
}
