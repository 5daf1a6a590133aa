package io.holdfast.zookeeper.internal.claim;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Printable;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.queue.LockPath;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.session.Session;
import org.jspecify.annotations.Nullable;

/** What one claim has in ZooKeeper, as far as it is known. Everything in it is read and written on the executor. */
public final class ClaimState {

    /** So seldom a waiter for a permit lists its queue without being told to. */
    private static final int READINGS_PER_LIST = 8;

    /** What a holder of a permit has done to tell the next waiter that it is at the head. */
    private enum Mark {
        NONE,
        /** It has to, and has not begun, or failed. */
        OWED,
        SENT,
        DONE
    }

    private final LockClaim claim;
    private final PendingOperations operations = new PendingOperations();

    /** The newest attempt, and when it was asked for: what a grant is counted from. */
    private int attempt;

    private long askedNanos;

    /** Whether its attempt has to find out more before it may hold, and was told to. */
    private boolean isTold;

    /** Known with the first session. */
    private @Nullable LockPath queue;

    /** The session of the node, or of a creation whose outcome is not known; null without either. */
    private @Nullable Session session;

    private @Nullable String path;
    private @Nullable QueueNode node;
    private long zxid;
    private boolean isDoubtful;
    private boolean isHeld;
    private boolean isReader;
    private Mark mark = Mark.NONE;
    private int readings;
    private boolean hasStood;
    private boolean isWithdrawn;

    /** Written by {@link WatchedNodes} only. */
    private @Nullable String waitsFor;

    private @Nullable String orphan;
    private boolean isEndWatched;

    ClaimState(LockClaim claim) {
        this.claim = claim;
    }

    public String id() {
        return claim.id();
    }

    public LockClaim claim() {
        return claim;
    }

    public String lockName() {
        return claim.key().name();
    }

    public LockPath queue() {
        return requireNonNull(queue, "no session yet");
    }

    boolean hasQueue() {
        return queue != null;
    }

    /** An attempt was asked for then. */
    public void asked(int number, long nowNanos) {
        attempt = number;
        askedNanos = nowNanos;
    }

    int attempt() {
        return attempt;
    }

    public long askedNanos() {
        return askedNanos;
    }

    /** Once for each node: nothing but the clock, or a grant, calls for another attempt. */
    public boolean tell() {
        boolean isNew = !isTold;
        isTold = true;
        return isNew;
    }

    public void findQueue(Session of) {
        queue = LockPath.of(of.root(), claim.key());
    }

    public boolean isPermit() {
        return claim.key().kind() == LockKind.SEMAPHORE;
    }

    public PendingOperations operations() {
        return operations;
    }

    /** A creation is sent: from now on there may be a node. */
    public void entering(Session sentIn) {
        session = sentIn;
        path = null;
        node = null;
    }

    /** The outcome of a creation is not known: there may be a node now, or even later. */
    public void enteredPerhaps() {
        isDoubtful = true;
    }

    public void entered(Session sentIn, AsyncZooKeeper.Created created) {
        session = sentIn;
        path = created.path();
        node = requireNonNull(
                QueueNode.parse(created.path().substring(queue().path().length() + 1)),
                "the server changed the name of a node");
        zxid = created.zxid();
        isHeld = false;
        isReader = false;
        mark = Mark.NONE;
        hasStood = false;
        isTold = false;
        isEndWatched = false;
    }

    /** The server tells when its node goes. */
    void watchesEnd() {
        isEndWatched = true;
    }

    boolean isEndWatched() {
        return isEndWatched;
    }

    /** There is surely no node. */
    public void left() {
        session = null;
        path = null;
        node = null;
        isHeld = false;
        isDoubtful = false;
    }

    public boolean belongsTo(Session which) {
        return session != null && session.is(which);
    }

    /** Whether its node is known, and of that session. */
    public boolean isIn(Session which) {
        return path != null && belongsTo(which);
    }

    /** Whether nothing of it can be in ZooKeeper. */
    public boolean hasNothingThere() {
        return session == null;
    }

    boolean isEmpty() {
        return session == null && waitsFor == null && orphan == null;
    }

    /** What it held in a session that has ended may still be there. Its holder is told first: then it is released, and deleted. */
    void orphaned(String itsPath) {
        orphan = itsPath;
    }

    public boolean isOrphaned() {
        return orphan != null;
    }

    @Nullable
    String takeOrphan() {
        String taken = orphan;
        orphan = null;
        return taken;
    }

    /** Whether there may be a node that is not known, of the session that it belongs to. */
    public boolean isDoubtful() {
        return isDoubtful || (session != null && path == null);
    }

    @Nullable
    String path() {
        return path;
    }

    public String knownPath() {
        return requireNonNull(path, "no node");
    }

    public QueueNode node() {
        return requireNonNull(node, "no node");
    }

    public long zxid() {
        return zxid;
    }

    public boolean isHeld() {
        return isHeld;
    }

    void hold() {
        isHeld = true;
    }

    /** The server has marked its node as that of a reader. */
    public void reads() {
        isReader = true;
    }

    /** Of its node: which side of a read/write lock it holds. */
    public LockKind side() {
        return isReader ? LockKind.READ : node().kind();
    }

    /** The next waiter has to be told, once. */
    public void oweMark() {
        mark = mark == Mark.NONE ? Mark.OWED : mark;
    }

    boolean owesMark() {
        return mark == Mark.OWED && isHeld;
    }

    void marking() {
        mark = Mark.SENT;
    }

    /**
     * A mark was answered.
     *
     * @param isDone false: it has to be sent again
     */
    void marked(boolean isDone) {
        mark = isDone ? Mark.DONE : Mark.OWED;
    }

    /** Counts attempts that only the clock asked for. True for one of eight: then the queue is listed, although no watch fired. */
    public boolean isListDue() {
        return ++readings % READINGS_PER_LIST == 0;
    }

    /** Its release was asked for. What the claim has in ZooKeeper is deleted, however long that takes. */
    public void withdraw() {
        isWithdrawn = true;
    }

    public boolean isWithdrawn() {
        return isWithdrawn;
    }

    /** The node whose change it waits for; null without one. */
    @Nullable
    public String waitsFor() {
        return waitsFor;
    }

    void waitFor(@Nullable String watched) {
        waitsFor = watched;
        hasStood |= watched != null;
    }

    /** Its node waits for another one. */
    public void stands() {
        hasStood = true;
    }

    /** Whether its node was ever found to wait for another one. */
    public boolean hasStood() {
        return hasStood;
    }

    @Override
    public String toString() {
        return "%s '%s' of claim %s"
                .formatted(
                        isHeld ? "held" : path == null ? "no place at" : "queued at",
                        Printable.text(lockName()),
                        claim.id());
    }
}
