package io.holdfast.proof.sim;

import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Three ZooKeeper servers, the first of which leads until it is lost. {@link ZooPeer} is the part of a server in the ensemble, {@link Leadership} is
 * what a leader does, and {@link Election} finds the leader. The server that gets a read answers it from the transactions that it has applied.
 */
public final class Ensemble {

    private static final int SERVERS = 3;

    /** The possible sync limits, in ticks; the last one practically never passes. */
    private static final List<Integer> SYNC_LIMITS = List.of(2, 5, 10, 100);

    private static final int JOIN_LIMIT = 5;

    private final World world;
    private final Network network;
    private final long timeoutNanos;
    private final long halfTickNanos;
    private final int syncLimit;
    private final List<ZooServer> servers;
    private final List<ZooPeer> peers;
    private final Election election;

    /** Null where empty queues stay. */
    private final @Nullable SplittableRandom reaping;

    /** From each server to each other one. */
    private final long[][] lastOnWay = new long[SERVERS][SERVERS];

    private long lastSession = 0x1000;

    Ensemble(World world, Network network, long timeoutNanos) {
        this.world = world;
        this.network = network;
        this.timeoutNanos = timeoutNanos;
        halfTickNanos = timeoutNanos / world.oneOf(2, 3, 4, 6) / 2;
        syncLimit = world.oneOf(SYNC_LIMITS);
        SplittableRandom reaps = world.chancesOf("reaping", 0);
        reaping = reaps.nextInt(3) == 0 ? reaps : null;
        election = new Election(world, network, this);
        servers = IntStream.rangeClosed(1, SERVERS)
                .mapToObj(i -> new ZooServer(world, this, i - 1, "zk" + i))
                .toList();
        peers = servers.stream().map(ZooServer::peer).toList();
        peers.get(0).leadsAtFirst(peers.subList(1, SERVERS));
        world.after(halfTickNanos, this::tick);
    }

    private void tick() {
        peers.forEach(ZooPeer::tick);
        world.after(halfTickNanos, this::tick);
    }

    public List<ZooServer> servers() {
        return servers;
    }

    public long timeoutNanos() {
        return timeoutNanos;
    }

    List<ZooPeer> peers() {
        return peers;
    }

    Election election() {
        return election;
    }

    long halfTickNanos() {
        return halfTickNanos;
    }

    /** The number of ticks for which a leader and a follower continue without a message from each other. */
    int syncLimit() {
        return syncLimit;
    }

    /** The most ticks until a leader leads, and a follower follows. */
    int joinLimit() {
        return JOIN_LIMIT;
    }

    @Nullable
    SplittableRandom reaping() {
        return reaping;
    }

    long nextSession() {
        return ++lastSession;
    }

    /** The latest leader that a majority has followed; null between two of them. */
    @Nullable
    ZooServer leader() {
        return peers.stream()
                .filter(it -> it.leadership() != null && it.leadership().isEstablished())
                .max(Comparator.comparingLong(it -> it.leadership().epoch()))
                .map(ZooPeer::server)
                .orElse(null);
    }

    /** Returns all nodes of a session, or of a queue. */
    List<String> leftovers() {
        ZooServer leader = leader();
        if (leader != null) {
            return leader.peer().leadership().head().ephemerals();
        }
        return peers.stream()
                .max(Comparator.comparingLong(ZooPeer::currentEpoch).thenComparing(ZooPeer::lastLogged))
                .map(it -> it.tree().ephemerals())
                .orElseThrow();
    }

    /** From one server to another, in order. */
    void send(ZooServer from, ZooServer to, Runnable task) {
        long[] last = lastOnWay[from.peer().index()];
        int index = to.peer().index();
        last[index] = Math.max(last[index] + 1, network.arrival(from.name(), to.name(), false));
        world.at(last[index], () -> to.receive(task));
    }
}
