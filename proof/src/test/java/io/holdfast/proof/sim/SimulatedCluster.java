package io.holdfast.proof.sim;

import io.holdfast.proof.sim.RedisMemory.Extract;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A cluster of shards, each with a master and a replica: the messages between its servers, replication, slots that an operator moves, and failovers.
 */
final class SimulatedCluster {

    private static final double SELDOM = 0.05;

    private final World world;
    private final Network network;
    private final int shards;
    private final boolean isOld;
    private final boolean losesMessages;
    private final boolean losesData;
    private final List<ClusterNode> nodes = new ArrayList<>();

    /** The decisions, which some servers may not know yet. */
    private final ClusterView truth;

    /** The arrival time of the last message to each replica. */
    private final Map<ClusterNode, Long> lastCopy = new HashMap<>();

    /** Raised when messages on their way to a replica are obsolete. */
    private final Map<ClusterNode, Integer> generation = new HashMap<>();

    private final Set<ClusterNode> incomplete = new HashSet<>();
    /** Slots that are being moved, and the shards that they leave. */
    private final Map<Integer, Integer> moving = new HashMap<>();

    private final Set<Integer> handingOver = new HashSet<>();
    private final boolean movesAreLeftAlone;
    private long epoch;

    /**
     * Makes a cluster whose servers are up and know each other.
     *
     * @param isOld whether they are of version 6.2, without sharded channels
     * @param losesMessages whether published messages may not reach other servers
     * @param losesData whether a failover may lose acknowledged writes
     */
    SimulatedCluster(
            World world,
            Network network,
            int shards,
            boolean isOld,
            boolean losesMessages,
            boolean losesData,
            Mutant mutant) {
        this.world = world;
        this.network = network;
        this.shards = shards;
        this.isOld = isOld;
        this.losesMessages = losesMessages;
        this.losesData = losesData;
        movesAreLeftAlone = mutant.movesAreLeftAlone() && !losesData;
        truth = new ClusterView(shards);
        double rate = Clocks.rate(world);
        long ahead = Clocks.ahead(world);
        for (int i = 0; i < 2 * shards; i++) {
            long itsAhead = mutant.areClocksTogether() ? ahead : Clocks.ahead(world);
            nodes.add(new ClusterNode(this, "redis" + (i + 1), i % shards, rate, itsAhead, mutant));
        }
        for (int shard = 0; shard < shards; shard++) {
            ClusterNode master = nodes.get(shard);
            truth.learnMaster(shard, master, 0);
        }
        // Masters first: a replica requests all data from its master.
        nodes.forEach(truth::tell);
        incomplete.clear();
        if (!losesData) {
            nodes.forEach(node -> node.sharesReleasesWith(nodes.get(0)));
        }
    }

    World world() {
        return world;
    }

    int shards() {
        return shards;
    }

    boolean isOld() {
        return isOld;
    }

    List<ClusterNode> nodes() {
        return nodes;
    }

    ClusterNode named(String name) {
        return nodes.stream().filter(it -> it.name().equals(name)).findFirst().orElseThrow();
    }

    ClusterNode otherThan(ClusterNode node) {
        int at = nodes.indexOf(node);
        return nodes.get((at + shards) % nodes.size());
    }

    /** Returns the decided master of that shard. */
    ClusterNode masterOf(int shard) {
        return truth.masterOf(shard);
    }

    int shardOf(int slot) {
        return truth.shardOf(slot);
    }

    Stream<ClusterNode> masters() {
        return Stream.iterate(0, shard -> shard < shards, shard -> shard + 1).map(this::masterOf);
    }

    /** Sends a message from one server to another. It arrives if the receiver is up then. */
    private void say(ClusterNode from, ClusterNode to, long extraNanos, Runnable heard) {
        world.at(network.arrival(from.name(), to.name(), false) + extraNanos, () -> to.receive(heard));
    }

    /** Sends a decision to all servers. Most get it at once; the others get it within a second. */
    private void gossip(ClusterNode from) {
        nodes.stream()
                .filter(it -> it != from)
                .forEach(to ->
                        say(from, to, world.chance(0.3) ? world.between(0, World.ms(1_000)) : 0, () -> truth.tell(to)));
    }

    /** Sends a restarted server the decisions that it missed. */
    void started(ClusterNode node) {
        ClusterNode other = world.oneOf(nodes.stream().filter(it -> it != node).toList());
        say(other, node, world.between(0, World.ms(1_000)), () -> truth.tell(node));
        copyAll(node.isMaster() ? node.other() : node);
    }

    void publish(ClusterNode from, String channel, String message) {
        for (ClusterNode to : nodes) {
            if (to != from && to.isHeard(channel) && !isLost()) {
                say(from, to, 0, () -> to.deliver(channel, message));
            }
        }
    }

    void publishSharded(ClusterNode from, String channel, String message) {
        ClusterNode to = otherThan(from);
        if (to.shardChannels().contains(channel) && !isLost()) {
            say(from, to, 0, () -> to.deliverSharded(channel, message));
        }
    }

    private boolean isLost() {
        return losesMessages && world.chance(SELDOM);
    }

    /** Sends the values of a script's keys to the replica, which gets them a little later. */
    void replicate(ClusterNode master, Collection<String> keys) {
        ClusterNode replica = master.other();
        if (master.isMaster() && replica.follows(master) && replica.isUp()) {
            Extract copy = master.memory().extract(keys);
            copy(master, replica, () -> replica.memory().put(copy, 0));
        }
    }

    private void copy(ClusterNode master, ClusterNode replica, Runnable put) {
        long arrival =
                Math.max(lastCopy.getOrDefault(replica, 0L) + 1, network.arrival(master.name(), replica.name(), false));
        lastCopy.put(replica, arrival);
        int mine = generation.getOrDefault(replica, 0);
        world.at(
                arrival,
                () -> replica.receive(() -> {
                    if (mine == generation.getOrDefault(replica, 0) && replica.follows(master)) {
                        put.run();
                    }
                }));
    }

    /** Sends all data to a replica that has missed a message. */
    void copyAll(ClusterNode replica) {
        generation.merge(replica, 1, Integer::sum);
        incomplete.add(replica);
        int mine = generation.get(replica);
        world.after(world.between(0, World.ms(200)), () -> copyAll(replica, mine));
    }

    private void copyAll(ClusterNode replica, int mine) {
        ClusterNode master = replica.other();
        if (mine != generation.get(replica) || !replica.follows(master)) {
            return;
        }
        if (!master.isUp() || !replica.isUp() || !master.isMaster()) {
            world.after(World.ms(500), () -> copyAll(replica, mine));
            return;
        }
        Extract all = master.memory().extract(master.memory().keys());
        copy(master, replica, () -> {
            world.trace("%s has all data of %s", replica, master);
            replica.memory().flush();
            replica.memory().put(all, 0);
            forgetReleases(replica);
            incomplete.remove(replica);
        });
    }

    /** A key has left this shard during a move: perhaps orders a failover of the shard. */
    void migrated(int from) {
        if (!movesAreLeftAlone && !losesData && world.chance(0.3)) {
            handOver(from);
        }
    }

    /** Does what CLUSTER FAILOVER does: the master holds commands back until the replica has all data, and then becomes its replica. */
    void handOver(int shard) {
        ClusterNode old = masterOf(shard);
        ClusterNode heir = old.other();
        boolean isLeftAlone = movesAreLeftAlone && moving.containsValue(shard);
        if (!canReplace(old, heir) || !old.isUp() || isLeftAlone || !handingOver.add(shard)) {
            return;
        }
        long pause = world.between(World.ms(1), World.ms(200));
        old.pause(pause);
        world.after(pause / 2, () -> {
            handingOver.remove(shard);
            if (masterOf(shard) == old && canReplace(old, heir) && old.isUp()) {
                heir.memory().flush();
                heir.memory().put(old.memory().extract(old.memory().keys()), 0);
                promote(heir);
                truth.tell(old);
            }
        });
    }

    private boolean canReplace(ClusterNode old, ClusterNode heir) {
        return heir.isUp() && !incomplete.contains(heir) && heir.follows(old);
    }

    /** The master crashes or is cut off from the other servers. Some time later its replica takes its place, with the data that it has. */
    void fail(int shard, long nanos) {
        ClusterNode old = masterOf(shard);
        ClusterNode heir = old.other();
        if (!canReplace(old, heir)) {
            return;
        }
        if (world.chance(0.6)) {
            old.crash(world.between(nanos / 2, 2 * nanos), false);
        } else {
            nodes.stream().filter(it -> it != old).forEach(it -> {
                network.stall(old.name(), it.name(), 2 * nanos);
                network.stall(it.name(), old.name(), 2 * nanos);
            });
        }
        world.after(nanos / 2, () -> {
            if (masterOf(shard) == old) {
                // A slot without a master: no server takes commands.
                nodes.stream().filter(it -> it != old).forEach(it -> it.takesNoCommandsFor(nanos / 2));
            }
        });
        world.after(nanos, () -> {
            if (masterOf(shard) == old && heir.isUp()) {
                promote(heir);
            }
        });
    }

    private void promote(ClusterNode heir) {
        world.trace("%s is promoted", heir);
        generation.merge(heir, 1, Integer::sum);
        forgetReleases(heir);
        truth.learnMaster(heir.shard(), heir, ++epoch);
        truth.tell(heir);
        gossip(heir);
    }

    private void forgetReleases(ClusterNode node) {
        if (losesData) {
            node.forgetReleases();
        }
    }

    /**
     * Begins to move a slot to another shard, unless it is being moved.
     *
     * @param paceNanos the usual longest time of a step
     * @param mostNanos the longest time of the whole move
     */
    void move(int slot, long paceNanos, long mostNanos) {
        int from = shardOf(slot);
        if (!handingOver.contains(from) && moving.putIfAbsent(slot, from) == null) {
            int to = (from + 1 + world.below(shards - 1)) % shards;
            new SlotMove(this, slot, from, to, paceNanos, mostNanos).step();
        }
    }

    /** All keys have arrived: the slot now belongs to that shard. */
    void assign(int slot, int shard) {
        truth.learnOwner(slot, shard, ++epoch);
        ClusterNode owner = masterOf(shard);
        truth.tell(owner);
        owner.closeSlot(slot);
        gossip(owner);
    }

    void tell(ClusterNode node) {
        truth.tell(node);
    }

    void moved(int slot) {
        moving.remove(slot);
    }
}
