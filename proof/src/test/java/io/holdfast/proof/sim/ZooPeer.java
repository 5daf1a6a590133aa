package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One server's part in its ensemble: what it has written down, and whether it leads, follows or looks for a leader. Whoever looks for one
 * serves no client. All transactions that it has written down count for it then, also those that no majority has; a new leader's state
 * replaces its own.
 */
final class ZooPeer {

    private final Ensemble ensemble;
    private final ZooServer server;
    private final int index;
    private final double rate;
    private final ZooTree tree;

    /** Written down, and not known to be acknowledged by a majority. */
    private final Deque<Transaction> log = new ArrayDeque<>();

    /** What its machine has not told of its connections when it died. */
    private final List<FollowerLink> untold = new ArrayList<>();

    /** It follows no leader of an earlier one. */
    private long acceptedEpoch = 1;

    /** Of the leader whose state it has. */
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

    /** How it leads, or tries to; null when it does not. */
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

    /** Whether one with that would know of later transactions. */
    boolean isBehind(long otherEpoch, long otherZxid) {
        return otherEpoch == currentEpoch ? otherZxid > lastLogged() : otherEpoch > currentEpoch;
    }

    boolean isBehind(ZooPeer other) {
        return isBehind(other.currentEpoch, other.lastLogged());
    }

    /** From the beginning, with nothing to agree on. */
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

    /** It has won an election. */
    void lead() {
        leadership = new Leadership(ensemble, this);
    }

    /** It has lost one, or there is a leader. */
    void follow(Leadership leader) {
        FollowerLink made = new FollowerLink(ensemble, this, leader);
        link = made;
        long accepted = acceptedEpoch;
        made.toLeader(() -> leader.isAskedBy(made, accepted));
    }

    /** As the leader: a majority has been asked. */
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

    /** As a follower: what the leader has takes the place of what it had itself, be it behind or ahead of that. */
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

    /** Writes it down. */
    void log(Transaction proposed) {
        log.add(proposed);
    }

    /** As a follower. */
    void isProposed(FollowerLink by, Transaction proposed) {
        log(proposed);
        by.toLeader(() -> by.leadership().isAcknowledgedBy(by, proposed.zxid()));
    }

    /** A majority has it, and so all before it. */
    void commit(long zxid) {
        while (!log.isEmpty() && log.getFirst().zxid() <= zxid) {
            Transaction next = log.removeFirst();
            tree.apply(next);
            if (next.by() == server) {
                next.done().run();
            }
        }
    }

    /** By its timer, twice a tick; what was due while it was paused comes once. */
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

    /** It leads no longer, follows no longer, and has no clients. */
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
     * It knows what it has written down, and nothing else.
     *
     * @param isHeard whether the others learn of it before it is up again
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
