package io.holdfast.proof.sim;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds a leader for each server that looks for one: the current leader, even if a majority has left it. Otherwise it takes the server with the latest
 * transaction, of a majority that looks for a leader and hears each other. The votes are not simulated, and the result need not be right: whether a
 * server may lead is decided when the others follow it.
 */
final class Election {

    private final World world;
    private final Network network;
    private final Ensemble ensemble;

    Election(World world, Network network, Ensemble ensemble) {
        this.world = world;
        this.network = network;
        this.ensemble = ensemble;
    }

    /** Lets the peer, which looks for a leader, take part in the election. */
    void join(ZooPeer peer) {
        long half = ensemble.halfTickNanos();
        world.after(world.between(half / 5, 2 * half), () -> peer.server().receive(() -> decide(peer)));
    }

    private void decide(ZooPeer peer) {
        if (!peer.isLooking()) {
            return;
        }
        Leadership leader = leaderFor(peer);
        if (leader != null) {
            peer.follow(leader);
            return;
        }
        List<ZooPeer> voters = ensemble.peers().stream()
                .filter(it -> it == peer || (it.isLooking() && isHeardBy(peer, it)))
                .toList();
        if (voters.size() <= ensemble.peers().size() / 2) {
            join(peer);
        } else {
            elect(new ArrayList<>(voters));
            if (peer.isLooking()) {
                join(peer);
            }
        }
    }

    /**
     * Elects the server with the latest transaction. If there are more voters than a majority, one of them may come too late. It goes on looking for a
     * leader.
     */
    private void elect(List<ZooPeer> voters) {
        if (voters.size() == ensemble.peers().size() && world.chance(0.3)) {
            voters.remove(world.below(voters.size()));
        }
        ZooPeer best = voters.stream()
                .max(Comparator.comparingLong(ZooPeer::currentEpoch)
                        .thenComparing(ZooPeer::lastLogged)
                        .thenComparing(ZooPeer::index))
                .orElseThrow();
        world.trace("    %s is elected", best.server());
        best.lead();
        for (ZooPeer voter : voters) {
            if (voter != best && voter.isLooking()) {
                voter.follow(best.leadership());
            }
        }
    }

    private @Nullable Leadership leaderFor(ZooPeer peer) {
        Leadership found = null;
        for (ZooPeer other : ensemble.peers()) {
            Leadership one = other.leadership();
            if (one != null && isHeardBy(peer, other) && (found == null || one.epoch() > found.epoch())) {
                found = one;
            }
        }
        return found;
    }

    private boolean isHeardBy(ZooPeer one, ZooPeer other) {
        return other.server().isRunning()
                && network.isOpenBetween(one.server().name(), other.server().name());
    }
}
