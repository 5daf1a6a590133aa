package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One server's part in its ensemble: its log, and whether it leads, follows or looks for a leader. A server that looks for a leader serves no client. All
 * transactions in its log count for it then, also those that no majority has. The state of a new leader replaces its own.
 */
final class ZooPeer {

    private final Ensemble ensemble;
    private final ZooServer server;
    private final int index;
    private final double rate;
    private final ZooTree tree;

    /** The logged transactions that are not known to be acknowledged by a majority. */
    private final Deque<Transaction> log = new ArrayDeque<>();

    /** The connections that its machine did not close when it died. */
    private final List<FollowerLink> untold = new ArrayList<>();

    /** The accepted epoch: it follows no leader of an earlier one. */
    private long acceptedEpoch = 1;

    /** The epoch of the leader whose state it has. */
    private long currentEpoch = 1;

    private @Nullable Leadership leadership;
    private @Nullable FollowerLink link;
    private boolean serves;
    private boolean isTickDue;

    ZooPeer(Ensemble ensemble, ZooServer server, int index, double rate) {
        this.ensemble = ensemble;
        this.server = server;
        this.index = index;
        this.rate = rate;
        tree = new ZooTree(server);
        tree.beginsAt(100);
    }

    ZooServer server() {
        return server;
    }

    int index() {
        return index;
    }

    double rate() {
        return rate;
    }

    ZooTree tree() {
        return tree;
    }

    boolean serves() {
        return serves;
    }

    /** Returns its leadership, also before a majority follows; null if it does not lead. */
    @Nullable
    Leadership leadership() {
        return leadership;
    }

    @Nullable
    FollowerLink link() {
        return link;
    }

    boolean isLooking() {
        return leadership == null && link == null && server.isUp();
    }

    long acceptedEpoch() {
        return acceptedEpoch;
    }

    long currentEpoch() {
        return currentEpoch;
    }

    long lastLogged() {
        return log.isEmpty() ? tree.zxid() : log.getLast().zxid();
    }

    boolean hasAppliedAll() {
        return log.isEmpty();
    }

    List<Transaction> log() {
        return List.copyOf(log);
    }

    /** Returns whether a server with that epoch and that transaction knows later transactions. */
    boolean isBehind(long otherEpoch, long otherZxid) {
        return otherEpoch == currentEpoch ? otherZxid > lastLogged() : otherEpoch > currentEpoch;
    }

    boolean isBehind(ZooPeer other) {
        return isBehind(other.currentEpoch, other.lastLogged());
    }

    /** Makes it the first leader, without an election. */
    void leadsAtFirst(List<ZooPeer> followers) {
        Leadership first = new Leadership(ensemble, this);
        leadership = first;
        serves = true;
        for (ZooPeer follower : followers) {
            follower.link = new FollowerLink(ensemble, follower, first);
            follower.serves = true;
        }
        first.beginsWith(followers.stream().map(ZooPeer::link).toList());
    }

    /** Leads after a won election. */
    void lead() {
        leadership = new Leadership(ensemble, this);
    }

    /** Follows a leader. */
    void follow(Leadership leader) {
        FollowerLink made = new FollowerLink(ensemble, this, leader);
        link = made;
        long accepted = acceptedEpoch;
        made.toLeader(() -> leader.isAskedBy(made, accepted));
    }

    /** As the leader: a majority has reported its accepted epochs. */
    void accepts(long epoch) {
        acceptedEpoch = epoch;
    }

    /** As the leader: a majority has promised to follow no earlier one. */
    void isIn(long epoch) {
        currentEpoch = epoch;
    }

    /** As a follower: that epoch begins. */
    void promise(FollowerLink by, long epoch) {
        if (epoch < acceptedEpoch) {
            lookForLeader();
            return;
        }
        acceptedEpoch = epoch;
        long current = currentEpoch;
        long last = lastLogged();
        by.toLeader(() -> by.leadership().isPromisedBy(by, current, last));
    }

    /** As a follower: replaces its own state by that of the leader, whether it is behind or ahead. */
    void take(FollowerLink by, long epoch, ZooTree state, List<Transaction> proposed) {
        tree.become(state);
        log.clear();
        log.addAll(proposed);
        currentEpoch = epoch;
        long last = lastLogged();
        by.toLeader(() -> by.leadership().isTakenBy(by, last));
    }

    /** As a follower: the leader has a majority. */
    void serve() {
        serves = true;
    }

    /** Logs a proposal. */
    void log(Transaction proposed) {
        log.add(proposed);
    }

    /** As a follower. */
    void isProposed(FollowerLink by, Transaction proposed) {
        log(proposed);
        by.toLeader(() -> by.leadership().isAcknowledgedBy(by, proposed.zxid()));
    }

    /** A majority has this transaction, and so all before it. */
    void commit(long zxid) {
        while (!log.isEmpty() && log.getFirst().zxid() <= zxid) {
            Transaction next = log.removeFirst();
            tree.apply(next);
            if (next.by() == server) {
                next.done().run();
            }
        }
    }

    /** Its timer calls this twice a tick, and once after a pause. */
    void tick() {
        if (isTickDue) {
            return;
        }
        isTickDue = true;
        server.receive(() -> {
            isTickDue = false;
            if (leadership != null) {
                leadership.tick();
            } else if (link != null
                    && ++link.silentAtFollower > 2 * (serves ? ensemble.syncLimit() : ensemble.joinLimit())) {
                server.world.trace("    %s does not hear its leader", server);
                lookForLeader();
            }
        });
    }

    /** Stops leading or following, and closes the connections of all clients. */
    void lookForLeader() {
        server.world.trace("    %s looks for a leader", server);
        if (link != null) {
            link.leave();
        }
        if (leadership != null) {
            leadership.links().forEach(FollowerLink::giveUp);
        }
        stop();
        while (!log.isEmpty()) {
            tree.apply(log.removeFirst());
        }
        ensemble.election().join(this);
    }

    private void stop() {
        link = null;
        leadership = null;
        serves = false;
        server.closeClients();
    }

    /**
     * Restarts with its log and nothing else.
     *
     * @param isHeard whether the other servers notice the crash before this server is up again
     */
    void died(boolean isHeard) {
        List<FollowerLink> links = new ArrayList<>();
        if (link != null) {
            link.followerDied();
            links.add(link);
        }
        if (leadership != null) {
            leadership.links().forEach(FollowerLink::leaderDied);
            links.addAll(leadership.links());
        }
        stop();
        if (isHeard) {
            links.forEach(FollowerLink::reset);
        } else {
            untold.addAll(links);
        }
    }

    void started() {
        isTickDue = false;
        untold.forEach(FollowerLink::reset);
        untold.clear();
        lookForLeader();
    }
}
