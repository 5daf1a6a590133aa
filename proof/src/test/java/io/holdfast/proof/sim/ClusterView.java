package io.holdfast.proof.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The shard of each slot and the master of each shard, as one server knows them. A decision of a later epoch replaces one of an earlier epoch.
 */
final class ClusterView {

    static final int SLOTS = 16_384;

    private static final long PORT = 6_379;

    private record Owner(int shard, long epoch) {}

    private record Head(ClusterNode master, long epoch) {}

    private final int shards;

    /** The epochs of the moved slots. */
    private final TreeMap<Integer, Owner> owners = new TreeMap<>();

    private final Map<Integer, Head> heads = new HashMap<>();

    /** The last answer; null after a change. */
    private List<Object> told;

    ClusterView(int shards) {
        this.shards = shards;
    }

    int shardOf(int slot) {
        Owner owner = owners.get(slot);
        return owner == null ? slot * shards / SLOTS : owner.shard();
    }

    ClusterNode masterOf(int shard) {
        return heads.get(shard).master();
    }

    /** False when it was known, or something later is. */
    boolean learnOwner(int slot, int shard, long epoch) {
        Owner known = owners.get(slot);
        if (known != null && known.epoch() >= epoch) {
            return false;
        }
        owners.put(slot, new Owner(shard, epoch));
        told = null;
        return true;
    }

    /** False when it was known, or something later is. */
    boolean learnMaster(int shard, ClusterNode master, long epoch) {
        Head known = heads.get(shard);
        if (known != null && known.epoch() >= epoch) {
            return false;
        }
        heads.put(shard, new Head(master, epoch));
        told = null;
        return true;
    }

    /** Copies all that this view knows to another view. */
    void tell(ClusterNode other) {
        new TreeMap<>(heads).forEach((shard, head) -> other.learnMaster(shard, head.master(), head.epoch()));
        new TreeMap<>(owners).forEach((slot, owner) -> other.learnOwner(slot, owner.shard(), owner.epoch()));
    }

    /** Returns the answer to CLUSTER SLOTS. */
    List<Object> slots() {
        if (told == null) {
            List<Object> ranges = new ArrayList<>();
            int first = 0;
            while (first < SLOTS) {
                int shard = shardOf(first);
                int next = first;
                do {
                    next = next(next);
                } while (next < SLOTS && shardOf(next) == shard);
                ClusterNode master = masterOf(shard);
                ranges.add(List.of((long) first, next - 1L, told(master), told(master.other())));
                first = next;
            }
            told = List.copyOf(ranges);
        }
        return told;
    }

    /** The next slot that may belong to another shard. */
    private int next(int slot) {
        int next = SLOTS;
        for (int shard = 1; shard < shards; shard++) {
            int begins = (shard * SLOTS + shards - 1) / shards;
            if (begins > slot) {
                next = Math.min(next, begins);
            }
        }
        if (owners.containsKey(slot)) {
            return slot + 1;
        }
        Integer moved = owners.higherKey(slot);
        return moved == null ? next : Math.min(next, moved);
    }

    private static List<Object> told(ClusterNode node) {
        return List.of(node.name(), PORT, "id-" + node.name());
    }
}
