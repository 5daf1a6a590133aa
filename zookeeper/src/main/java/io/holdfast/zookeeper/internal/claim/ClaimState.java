package io.holdfast.zookeeper.internal.claim;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.Printable;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.queue.LockPath;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.session.Session;
import org.jspecify.annotations.Nullable;

/** What one claim has in ZooKeeper, as far as the client knows. All fields are read and written on the executor. */
public final class ClaimState {

    /** How far the newest node of the claim is. */
    private enum Stage {
        /** The claim surely has no node. */
        NONE,
        /** A creation was sent. There may be a node, but its path is not known. */
        SENT,
        /** No other client can have seen the node waiting. */
        ENTERED,
        /** The node waits for another one, or another client may have seen it so. */
        STANDS,
        HOLDS,
        /** It holds, and must mark its node, or the request for that has failed. */
        OWES_MARK,
        /** It holds as a reader, under the name of a writer. */
        READS;

        boolean isThere() {
            return compareTo(ENTERED) >= 0;
        }

        boolean isHeld() {
            return compareTo(HOLDS) >= 0;
        }
    }

    private final LockClaim claim;
    private final PendingOperations operations = new PendingOperations();

    /** The newest attempt, and when it began. A grant is counted from then. */
    private int attempt;

    private long askedNanos;

    /** Whether the claim was signalled to send an attempt, because only an attempt can find out more. */
    private boolean isTold;

    /** Set with the first session. */
    private @Nullable LockPath queue;

    private Stage stage = Stage.NONE;

    /** The session of the node, or of its creation. */
    private @Nullable Session session;

    private @Nullable String path;
    private @Nullable QueueNode node;
    private long zxid;

    /** Whether there may be another node, of an earlier creation. */
    private boolean isDoubtful;

    private boolean isEndWatched;
    private boolean isWithdrawn;

    private @Nullable String orphan;

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

    /** An attempt began at that time. */
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

    /** Returns true once for each node, or since {@link #mayBeTold}. After that, only the clock or a grant causes another attempt. */
    public boolean tell() {
        boolean isNew = !isTold;
        isTold = true;
        return isNew;
    }

    /** The attempt leaves the rest to an answer that is under way. */
    public void mayBeTold() {
        isTold = false;
    }

    public void findQueue(Session of) {
        queue = LockPath.of(of.root(), claim.key());
    }

    public PendingOperations operations() {
        return operations;
    }

    /** A creation is sent. From now on there may be a node. */
    public void entering(Session sentIn) {
        session = sentIn;
        stage = Stage.SENT;
    }

    /** The outcome of a creation is unknown. The node may exist now, or appear later. */
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
        stage = Stage.ENTERED;
        isTold = false;
        isEndWatched = false;
    }

    /** The server will report the end of its node. */
    void watchesEnd() {
        isEndWatched = true;
    }

    boolean isEndWatched() {
        return isEndWatched;
    }

    /** The node surely does not exist. */
    public void left() {
        stage = Stage.NONE;
        isDoubtful = false;
    }

    public boolean belongsTo(Session which) {
        return stage != Stage.NONE && session != null && session.is(which);
    }

    /** Whether its node is known and belongs to that session. */
    public boolean isIn(Session which) {
        return stage.isThere() && belongsTo(which);
    }

    /** Whether the claim surely has nothing in ZooKeeper. */
    public boolean hasNothingThere() {
        return stage == Stage.NONE;
    }

    boolean isEmpty() {
        return stage == Stage.NONE && orphan == null;
    }

    /**
     * The node that it held in a session that has ended may still exist. First the holder learns of the loss and releases; then the node is
     * deleted.
     */
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

    /** Whether its session may have a node whose path is not known. */
    public boolean isDoubtful() {
        return isDoubtful || stage == Stage.SENT;
    }

    @Nullable
    String path() {
        return stage.isThere() ? path : null;
    }

    public String knownPath() {
        return requireNonNull(path(), "no node");
    }

    public QueueNode node() {
        return requireNonNull(node, "no node");
    }

    public long zxid() {
        return zxid;
    }

    public boolean isHeld() {
        return stage.isHeld();
    }

    void hold(boolean owesMark) {
        stage = owesMark ? Stage.OWES_MARK : Stage.HOLDS;
    }

    /** The server has marked its node as the node of a reader. */
    public void reads() {
        stage = Stage.READS;
    }

    /** Returns the side of a read/write lock that its node holds. */
    public LockKind side() {
        return stage == Stage.READS ? LockKind.READ : node().kind();
    }

    boolean owesMark() {
        return stage == Stage.OWES_MARK;
    }

    /** The release of the claim was requested. The back end deletes what the claim has in ZooKeeper, however long that takes. */
    public void withdraw() {
        isWithdrawn = true;
    }

    public boolean isWithdrawn() {
        return isWithdrawn;
    }

    /** Its node waits for another node, or another client may have seen it so. */
    public void stands() {
        stage = stage == Stage.ENTERED ? Stage.STANDS : stage;
    }

    public boolean hasStood() {
        return stage == Stage.STANDS;
    }

    @Override
    public String toString() {
        return "%s '%s' of claim %s"
                .formatted(
                        isHeld() ? "held" : path() == null ? "no place at" : "queued at",
                        Printable.text(lockName()),
                        claim.id());
    }
}
