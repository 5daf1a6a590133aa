package io.holdfast.proof.sim;

import io.holdfast.proof.sim.RedisMemory.RedisError;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** One server of a simulated cluster: master of a shard, or replica of that master, by what it knows itself. */
public final class ClusterNode extends SimulatedRedis {

    private static final String NOT_LOCAL = "ERR Script attempted to access a non local key in a cluster node";

    /** How long a restarted master takes no commands (CLUSTER_WRITABLE_DELAY). */
    private static final long WRITABLE_DELAY = World.ms(2_000);

    private static final Set<String> WITHOUT_KEYS = Set.of("TIME", "PUBLISH", "SPUBLISH", "PUBSUB");

    /** A subscriber of a sharded channel. */
    private record Subscriber(Consumer<String> receiver, Runnable removed) {}

    private final SimulatedCluster cluster;
    private final int shard;
    private final Mutant mutant;
    private final ClusterView view;
    private final Map<Integer, ClusterNode> migrating = new HashMap<>();
    private final Set<Integer> importing = new HashSet<>();
    private final Set<Wire> asking = new HashSet<>();
    private final Map<String, Map<Wire, Subscriber>> shardChannels = new LinkedHashMap<>();
    private long takesNoCommandsUntil;

    ClusterNode(SimulatedCluster cluster, String name, int shard, double rate, long aheadMicros, Mutant mutant) {
        super(cluster.world(), name, rate, aheadMicros, mutant.script());
        this.mutant = mutant;
        this.cluster = cluster;
        this.shard = shard;
        view = new ClusterView(cluster.shards());
    }

    static int slotOf(String key) {
        return SlotHash.getSlot(key.getBytes(StandardCharsets.UTF_8));
    }

    int shard() {
        return shard;
    }

    /** The other server of its shard. */
    ClusterNode other() {
        return cluster.otherThan(this);
    }

    boolean isMaster() {
        return follows(this);
    }

    boolean follows(ClusterNode master) {
        return view.masterOf(shard) == master;
    }

    private ClusterNode masterOf(int slot) {
        return view.masterOf(view.shardOf(slot));
    }

    /** ASKING: the next command on this connection is for a slot that this server imports. */
    public String asking(Wire from) {
        asking.add(from);
        return "OK";
    }

    /** The answer to CLUSTER SLOTS. */
    public List<Object> slots() {
        return view.slots();
    }

    @Override
    public Object call(Wire from, boolean isSha, String script, List<String> keys, List<String> args) {
        boolean isAsking = asking.remove(from);
        String refusal = refusal(keys, isAsking);
        if (refusal != null) {
            world.trace("    %s: %s %s -> %s", name(), keys.get(0), args, refusal);
            return new Refusal(mutant.refusal().apply(refusal));
        }
        int slot = slotOf(keys.get(0));
        if (migrating.containsKey(slot) || importing.contains(slot)) {
            memory().guard(command -> checkLocal(command, migrating.containsKey(slot)));
        }
        try {
            return super.call(from, isSha, script, keys, args);
        } finally {
            memory().guard(command -> {});
            cluster.replicate(this, keys);
        }
    }

    /** Returns the error of getNodeByQuery in cluster.c; null if there is none. */
    private String refusal(List<String> keys, boolean isAsking) {
        int slot = slotOf(keys.get(0));
        if (keys.stream().anyMatch(key -> slotOf(key) != slot)) {
            return "CROSSSLOT Keys in request don't hash to the same slot";
        }
        if (world.now() < takesNoCommandsUntil) {
            return "CLUSTERDOWN The cluster is down";
        }
        ClusterNode owner = masterOf(slot);
        boolean areAll = keys.stream().allMatch(memory()::has);
        if (owner == this && migrating.containsKey(slot)) {
            boolean isAny = keys.stream().anyMatch(memory()::has);
            return areAll
                    ? null
                    : isAny && !cluster.isOld()
                            ? "TRYAGAIN Multiple keys request during rehashing of slot"
                            : redirection("ASK", slot, migrating.get(slot));
        }
        if (importing.contains(slot) && isAsking) {
            return areAll || Set.copyOf(keys).size() == 1
                    ? null
                    : "TRYAGAIN Multiple keys request during rehashing of slot";
        }
        return owner == this ? null : redirection("MOVED", slot, owner);
    }

    private static String redirection(String kind, int slot, ClusterNode to) {
        return "%s %d %s:6379".formatted(kind, slot, to.name());
    }

    /** Does what scriptVerifyClusterState in script.c does, which checks each command of a script. */
    private void checkLocal(List<String> command, boolean isMigrating) {
        if (WITHOUT_KEYS.contains(command.get(0))) {
            return;
        }
        List<String> keys =
                command.get(0).equals("EXISTS") ? command.subList(1, command.size()) : List.of(command.get(1));
        if ((isMigrating || keys.size() > 1) && !keys.stream().allMatch(memory()::has)) {
            throw new RedisError(NOT_LOCAL);
        }
    }

    void migrate(int slot, ClusterNode to) {
        world.trace("%s: SETSLOT %d MIGRATING %s", this, slot, to);
        migrating.put(slot, to);
    }

    boolean isMigratingTo(int slot, ClusterNode to) {
        return migrating.get(slot) == to;
    }

    void importSlot(int slot) {
        world.trace("%s: SETSLOT %d IMPORTING", this, slot);
        importing.add(slot);
    }

    boolean isImporting(int slot) {
        return importing.contains(slot);
    }

    /** SETSLOT NODE: the slot has one owner again. */
    void closeSlot(int slot) {
        migrating.remove(slot);
        importing.remove(slot);
    }

    List<String> keysIn(int slot) {
        return memory().keys().stream().filter(key -> slotOf(key) == slot).toList();
    }

    void learnOwner(int slot, int newShard, long epoch) {
        boolean wasOurs = view.shardOf(slot) == shard;
        if (view.learnOwner(slot, newShard, epoch)) {
            world.trace("%s knows that shard %d has slot %d", this, newShard, slot);
            if (wasOurs && newShard != shard) {
                removeSubscribers(channel -> slotOf(channel) == slot);
                migrating.remove(slot);
            }
        }
    }

    void learnMaster(int ofShard, ClusterNode master, long epoch) {
        if (!view.learnMaster(ofShard, master, epoch)) {
            return;
        }
        world.trace("%s knows that %s is the master of shard %d", this, master, ofShard);
        if (ofShard == shard) {
            removeSubscribers(channel -> view.shardOf(slotOf(channel)) == shard);
            migrating.clear();
            importing.clear();
            if (master != this) {
                cluster.copyAll(this);
            }
        }
    }

    void tellAll(ClusterNode other) {
        view.tell(other);
    }

    void takesNoCommandsFor(long nanos) {
        takesNoCommandsUntil = Math.max(takesNoCommandsUntil, world.now() + nanos);
    }

    @Override
    void passOn(String channel, String message) {
        if (shardChannels.containsKey(channel) && masterOf(slotOf(channel)) == this) {
            world.defect(
                    "a message for a listener of this shard went to all servers", new IllegalStateException(channel));
        }
        cluster.publish(this, channel, message);
    }

    @Override
    int spublish(String channel, String message) {
        if (cluster.isOld()) {
            return super.spublish(channel, message);
        }
        if (masterOf(slotOf(channel)) != this) {
            throw new RedisError(NOT_LOCAL);
        }
        int told = deliverSharded(channel, message);
        world.trace("    published in the shard to %d of %s: %s", told, channel, message);
        cluster.publishSharded(this, channel, message);
        return told;
    }

    /** Returns the number of receivers. */
    int deliverSharded(String channel, String message) {
        Map<Wire, Subscriber> all = shardChannels.getOrDefault(channel, Map.of());
        all.forEach(
                (wire, subscriber) -> wire.toClient(() -> subscriber.receiver().accept(message)));
        return all.size();
    }

    /** Returns null when the command was carried out. */
    public Refusal subscribeSharded(String channel, Wire wire, Consumer<String> receiver, Runnable removed) {
        int slot = slotOf(channel);
        if (cluster.isOld()) {
            return new Refusal("ERR unknown command `SSUBSCRIBE`, with args beginning with: ");
        }
        if (world.now() < takesNoCommandsUntil) {
            return new Refusal("CLUSTERDOWN The cluster is down");
        }
        if (view.shardOf(slot) != shard) {
            return new Refusal(redirection("MOVED", slot, masterOf(slot)));
        }
        shardChannels
                .computeIfAbsent(channel, it -> new LinkedHashMap<>())
                .put(wire, new Subscriber(receiver, removed));
        return null;
    }

    private void removeSubscribers(Predicate<String> which) {
        for (String channel : List.copyOf(shardChannels.keySet())) {
            if (which.test(channel)) {
                shardChannels.remove(channel).forEach((wire, subscriber) -> wire.toClient(subscriber.removed()));
            }
        }
    }

    List<String> shardChannels() {
        return List.copyOf(shardChannels.keySet());
    }

    @Override
    protected void lost(Wire wire) {
        super.lost(wire);
        asking.remove(wire);
        shardChannels.values().forEach(all -> all.remove(wire));
        shardChannels.values().removeIf(Map::isEmpty);
    }

    @Override
    protected void forget(boolean dataToo) {
        super.forget(dataToo);
        if (dataToo) {
            cluster.nodes()
                    .forEach(
                            SimulatedRedis
                                    ::forgetsReleases); // it may have had the tombstones of a slot that comes back to
            // another node
        }
        asking.clear();
        shardChannels.clear();
    }

    @Override
    public void start() {
        boolean wasDown = !isUp();
        super.start();
        if (wasDown) {
            if (isMaster()) {
                takesNoCommandsFor(WRITABLE_DELAY);
            }
            cluster.started(this);
        }
    }
}
