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
 * What one server does as the leader, from its election until it gives up. It leads when a majority has its state. Then it orders all
 * writes: each is proposed to the followers, counts as soon as a majority has written it down, and is applied by all in that order. It gives
 * up at the end of a tick if it has not heard of a majority for the sync limit.
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

    /** With what is proposed. */
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

    /** It has given up, or its machine has died. */
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

    /** By one that has accepted that epoch; when a majority has asked, a higher one begins. */
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

    /** By one that has what it says; with a majority of them, nobody else has what is not known here. */
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

    /** By one that has written down all that there was, up to that one. */
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

    /** All sessions begin anew with their time-outs. */
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
            world.trace("    %s hears of no majority", server());
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

    /** Takes away containers that have become empty, as the original does now and then; their numbers begin again. */
    private void reap() {
        for (String queue : head.emptyQueues()) {
            if (ensemble.reaping().nextBoolean()) {
                world.trace("    the leader takes %s away", queue);
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

    /** A new session, as soon as a majority knows it. */
    void begin(ZooServer by, LongConsumer done) {
        long id = ensemble.nextSession();
        sessions.track(id);
        sessions.moved(id, by);
        propose(++lastZxid, tree -> tree.sessionBegun(id), by, () -> done.accept(id));
    }

    /** One that goes on at that server; false if it is over. No majority is asked. */
    boolean goesOn(long session, ZooServer at) {
        boolean isAlive = sessions.isAlive(session);
        if (isAlive) {
            sessions.heard(session);
            sessions.moved(session, at);
            world.trace("    %s hears that session %x is at %s", server(), session, at);
        }
        return isAlive;
    }

    /** Whether the session has connected to another server since. */
    boolean isElsewhere(long session, ZooServer asked) {
        return sessions.isElsewhere(session, asked);
    }

    /** Tells that server when it has applied it. */
    void write(Ask ask, ZooServer by, Consumer<Answer> done) {
        // What has ended by now takes an earlier number.
        boolean isOver = ask.session() != 0 && !sessions.isAlive(ask.session());
        PreparedWrite write = isOver ? PreparedWrite.ofNobody(ask) : PreparedWrite.of(ask, head, lastZxid + 1);
        boolean isDeleted = ask.kind() == Ask.Kind.DELETE && write.code() == Code.OK;
        if (isDeleted && ensemble.reaping() != null && ensemble.reaping().nextBoolean()) {
            world.after(ensemble.reaping().nextLong(World.ms(1)), () -> byItself(this::reap));
        }
        long zxid = ++lastZxid;
        propose(zxid, write.change(), by, () -> done.accept(write.answer(ask, zxid)));
    }

    /** Tells that server when it has all that is proposed now; at once, when nothing is. */
    void behindWhatIsProposed(ZooServer by, Runnable done) {
        if (peer.hasAppliedAll()) {
            tell(by, done);
        } else {
            syncs.add(new Sync(lastZxid, by, done));
        }
    }

    /** In order, behind what it was sent before. */
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

    /** Whatever a majority has written down. */
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
