package io.holdfast.proof.sim;

import io.holdfast.proof.sim.ZooServer.Answer;
import io.holdfast.proof.sim.ZooServer.Ask;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.apache.zookeeper.KeeperException.Code;

/**
 * The leadership of one server, from its election until it gives up. The server leads when a majority has its state. Then it orders all writes: it
 * proposes each write to the followers, the write counts when a majority has logged it, and all servers apply the writes in that order. The leader gives
 * up at the end of a tick if it has not heard a majority for the sync limit.
 */
final class Leadership {

    /** A server that waits until it has all that was proposed before. */
    private record Sync(long zxid, ZooServer by, Runnable done) {}

    private final Ensemble ensemble;
    private final World world;
    private final ZooPeer peer;
    private final SessionTimers sessions;
    private final List<FollowerLink> links = new ArrayList<>();
    private final Deque<Sync> syncs = new ArrayDeque<>();

    /** The tree with all proposed writes. */
    private final ZooTree head = new ZooTree(null);

    /** 0 until a majority has asked. */
    private long epoch;

    private long highestAccepted;
    private boolean isEstablished;
    private long lastZxid;
    private int halfTicks;

    Leadership(Ensemble ensemble, ZooPeer peer) {
        this.ensemble = ensemble;
        this.peer = peer;
        world = peer.server().world;
        highestAccepted = peer.acceptedEpoch();
        sessions = new SessionTimers(
                world,
                ensemble.timeoutNanos(),
                peer.rate(),
                () -> byItself(this::expire),
                id -> propose(++lastZxid, closing(id), null, () -> {}));
    }

    private void byItself(Runnable task) {
        peer.server().receive(() -> {
            if (!isOver()) {
                task.run();
            }
        });
    }

    /** Whether the server has given up, or its machine has died. */
    boolean isOver() {
        return peer.leadership() != this;
    }

    ZooServer server() {
        return peer.server();
    }

    long epoch() {
        return epoch;
    }

    List<FollowerLink> links() {
        return List.copyOf(links);
    }

    boolean isEstablished() {
        return isEstablished;
    }

    ZooTree head() {
        return head;
    }

    void beginsWith(List<FollowerLink> followers) {
        epoch = 1;
        isEstablished = true;
        lastZxid = peer.lastLogged();
        for (FollowerLink link : followers) {
            links.add(link);
            link.isForwarded = true;
            link.isSynced = true;
        }
    }

    private boolean isMajority(long others) {
        return others + 1 > ensemble.servers().size() / 2;
    }

    private long synced() {
        long count = 0;
        for (FollowerLink link : links) {
            count += link.isSynced ? 1 : 0;
        }
        return count;
    }

    /** A server that has accepted that epoch wants to follow. When a majority does, a higher epoch begins. */
    void isAskedBy(FollowerLink link, long accepted) {
        links.add(link);
        highestAccepted = Math.max(highestAccepted, accepted);
        if (epoch != 0) {
            offer(link);
        } else if (isMajority(links.size())) {
            epoch = highestAccepted + 1;
            peer.accepts(epoch);
            links.forEach(this::offer);
        }
    }

    private void offer(FollowerLink link) {
        link.toFollower(() -> link.follower().promise(link, epoch));
    }

    /** A server reports its last transaction. When a majority has, no acknowledged transaction is unknown here. */
    void isPromisedBy(FollowerLink link, long current, long zxid) {
        if (!isEstablished && peer.isBehind(current, zxid)) {
            world.trace("    %s knows less than %s", server(), link.follower().server());
            peer.lookForLeader();
            return;
        }
        link.hasPromised = true;
        if (peer.currentEpoch() == epoch) {
            bringUp(link);
        } else if (isMajority(links.stream().filter(it -> it.hasPromised).count())) {
            peer.isIn(epoch);
            links.stream().filter(it -> it.hasPromised).forEach(this::bringUp);
        }
    }

    private void bringUp(FollowerLink link) {
        link.isForwarded = true;
        ZooTree state = new ZooTree(null);
        state.become(peer.tree());
        List<Transaction> proposed =
                peer.log().stream().map(Transaction::unanswered).toList();
        link.toFollower(() -> link.follower().take(link, epoch, state, proposed));
    }

    /** A follower has logged all transactions up to this one. */
    void isTakenBy(FollowerLink link, long zxid) {
        link.isSynced = true;
        link.acknowledged = zxid;
        if (isEstablished) {
            link.toFollower(link.follower()::serve);
            commit();
        } else if (isMajority(synced())) {
            establish();
        }
    }

    /** Restarts the time-outs of all sessions. */
    private void establish() {
        world.trace("    %s leads, in epoch %d", server(), epoch);
        isEstablished = true;
        halfTicks = 0;
        lastZxid = epoch << 32;
        peer.tree().beginsAt(lastZxid);
        head.become(peer.tree());
        head.sessions().forEach(sessions::track);
        peer.serve();
        for (FollowerLink link : links) {
            if (link.isSynced) {
                link.toFollower(link.follower()::serve);
            }
        }
    }

    /** The other end has left. */
    void lost(FollowerLink link) {
        links.remove(link);
    }

    /** Twice a tick. */
    void tick() {
        halfTicks++;
        if (!isEstablished) {
            if (halfTicks > 2 * ensemble.joinLimit()) {
                peer.lookForLeader();
            }
            return;
        }
        for (FollowerLink link : links()) {
            if (++link.silentAtLeader > 2 * ensemble.syncLimit()) {
                link.giveUp();
                lost(link);
            }
        }
        if (halfTicks % 2 == 0 && !isMajority(synced())) {
            world.trace("    %s does not hear a majority", server());
            peer.lookForLeader();
            return;
        }
        for (FollowerLink link : links) {
            if (link.isSynced) {
                link.toFollower(() -> {
                    List<Long> touched = link.follower().server().takeTouched();
                    link.toLeader(() -> touched.forEach(sessions::heard));
                });
            }
        }
        expire();
        if (ensemble.reaping() != null) {
            reap();
        }
    }

    /** Deletes empty containers, as the original does from time to time; their numbers begin again. */
    private void reap() {
        for (String queue : head.emptyQueues()) {
            if (ensemble.reaping().nextBoolean()) {
                world.trace("    the leader deletes %s", queue);
                propose(++lastZxid, tree -> tree.remove(queue), null, () -> {});
            }
        }
    }

    private void expire() {
        sessions.expire();
    }

    void heard(long session) {
        sessions.heard(session);
    }

    private Consumer<ZooTree> closing(long id) {
        world.trace("    %s ends session %x", server(), id);
        List<String> owned = head.ownedBy(id);
        return tree -> {
            owned.forEach(tree::remove);
            tree.sessionEnded(id);
        };
    }

    /** Creates a session, as soon as a majority knows it. */
    void begin(ZooServer by, LongConsumer done) {
        long id = ensemble.nextSession();
        sessions.track(id);
        sessions.moved(id, by);
        propose(++lastZxid, tree -> tree.sessionBegun(id), by, () -> done.accept(id));
    }

    /** Continues a session at that server. Returns false if it is over. This asks no majority. */
    boolean goesOn(long session, ZooServer at) {
        boolean isAlive = sessions.isAlive(session);
        if (isAlive) {
            sessions.heard(session);
            sessions.moved(session, at);
            world.trace("    %s hears that session %x is at %s", server(), session, at);
        }
        return isAlive;
    }

    /** Returns whether the session has connected to another server since. */
    boolean isElsewhere(long session, ZooServer asked) {
        return sessions.isElsewhere(session, asked);
    }

    /** Orders a write. Calls that server back when it has applied the write. */
    void write(Ask ask, ZooServer by, Consumer<Answer> done) {
        // The end of an expired session takes an earlier number.
        boolean isOver = ask.session() != 0 && !sessions.isAlive(ask.session());
        PreparedWrite write = isOver ? PreparedWrite.ofNobody(ask) : PreparedWrite.of(ask, head, lastZxid + 1);
        boolean isDeleted = ask.kind() == Ask.Kind.DELETE && write.code() == Code.OK;
        if (isDeleted && ensemble.reaping() != null && ensemble.reaping().nextBoolean()) {
            world.after(ensemble.reaping().nextLong(World.ms(1)), () -> byItself(this::reap));
        }
        long zxid = ++lastZxid;
        propose(zxid, write.change(), by, () -> done.accept(write.answer(ask, zxid)));
    }

    /** Calls that server back when it has all current proposals; at once if there are none. */
    void afterCurrentProposals(ZooServer by, Runnable done) {
        if (peer.hasAppliedAll()) {
            tell(by, done);
        } else {
            syncs.add(new Sync(lastZxid, by, done));
        }
    }

    /** Sends to a follower, in order. */
    void tell(ZooServer to, Runnable task) {
        if (to == server()) {
            task.run();
            return;
        }
        for (FollowerLink link : links) {
            if (link.follower().server() == to) {
                link.toFollower(task);
            }
        }
    }

    private void propose(long zxid, Consumer<ZooTree> change, ZooServer by, Runnable done) {
        Transaction transaction = new Transaction(zxid, change, by, done);
        head.apply(transaction);
        peer.log(transaction);
        for (FollowerLink link : links) {
            if (link.isForwarded) {
                link.toFollower(() -> link.follower().isProposed(link, transaction));
            }
        }
    }

    void isAcknowledgedBy(FollowerLink link, long zxid) {
        link.acknowledged = zxid;
        commit();
    }

    /** Commits all proposals that a majority has logged. */
    private void commit() {
        long agreed = peer.tree().zxid();
        for (FollowerLink link : links) {
            // With three servers, one other is enough.
            agreed = Math.max(agreed, link.isSynced ? link.acknowledged : 0);
        }
        if (agreed <= peer.tree().zxid()) {
            return;
        }
        long until = agreed;
        for (FollowerLink link : links) {
            if (link.isForwarded) {
                link.toFollower(() -> link.follower().commit(until));
            }
        }
        peer.commit(until);
        while (!syncs.isEmpty() && syncs.getFirst().zxid() <= until) {
            Sync sync = syncs.removeFirst();
            tell(sync.by(), sync.done());
        }
    }
}
