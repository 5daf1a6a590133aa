package io.holdfast.proof.sim;

import io.holdfast.proof.sim.RedisMemory.Extract;
import java.util.List;

/** Moves one slot step by step, like redis-cli. Repeats the steps that a failover has undone. */
final class SlotMove {

    /** The probability that the tool stops for a while. */
    private static final double STOPS = 0.1;

    private final SimulatedCluster cluster;
    private final World world;
    private final int slot;
    private final int from;
    private final int to;
    private final long paceNanos;
    private final long mostNanos;
    private ClusterNode lastSource;

    SlotMove(SimulatedCluster cluster, int slot, int from, int to, long paceNanos, long mostNanos) {
        this.cluster = cluster;
        world = cluster.world();
        this.slot = slot;
        this.from = from;
        this.to = to;
        this.paceNanos = paceNanos;
        this.mostNanos = mostNanos;
    }

    private void again(Runnable next, long nanos) {
        world.after(world.between(20_000, Math.max(20_000, nanos)), next);
    }

    void step() {
        ClusterNode source = cluster.masterOf(from);
        ClusterNode target = cluster.masterOf(to);
        if (!source.isRunning() || !target.isRunning()) {
            again(this::step, World.ms(100));
            return;
        }
        if (lastSource != null && lastSource != source) { // the tool fails, and an operator starts it again
            lastSource = source;
            again(this::step, mostNanos);
            return;
        }
        lastSource = source;
        if (!target.isImporting(slot)) {
            target.importSlot(slot);
        } else if (!source.isMigratingTo(slot, target)) {
            source.migrate(slot, target);
        } else {
            List<String> keys = source.keysIn(slot);
            if (keys.isEmpty()) {
                world.trace("%s: SETSLOT %d NODE %s", target, slot, target);
                cluster.assign(slot, to);
                again(this::finish, paceNanos);
                return;
            }
            migrate(world.oneOf(keys), source, target);
        }
        again(this::step, world.chance(STOPS) ? mostNanos : paceNanos);
    }

    /** MIGRATE blocks both servers until it is done. */
    private void migrate(String key, ClusterNode source, ClusterNode target) {
        world.trace("%s: MIGRATE %s to %s", source, key, target);
        Extract taken = source.memory().extract(List.of(key));
        target.memory().put(taken, (target.micros() - source.micros()) / 1_000);
        source.memory().run(List.of("DEL", key));
        cluster.replicate(source, List.of(key));
        cluster.replicate(target, List.of(key));
        cluster.migrated(from);
    }

    /** The former owner gets its command last. */
    private void finish() {
        cluster.tell(cluster.masterOf(from));
        cluster.moved(slot);
    }
}
