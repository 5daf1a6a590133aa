package io.holdfast.proof.sim;

import io.holdfast.redis.SimulatedDriver;
import io.holdfast.spi.LockBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** A simulated cluster of two or three masters with a replica each, and the real back end in each process. */
final class ClusterStore implements Store {

    private final World world;
    private final Network network;
    private final Mutant mutant;
    private final Plan plan;
    private final SimulatedCluster cluster;

    ClusterStore(World world, Network network, Mutant mutant, Plan plan) {
        this.world = world;
        this.network = network;
        this.mutant = mutant;
        this.plan = plan;
        cluster = new SimulatedCluster(
                world,
                network,
                world.chance(0.7) ? 2 : 3,
                world.chance(0.15),
                !plan.is(Plan.Weather.CALM),
                plan.is(Plan.Weather.WILD) && !plan.jumps(),
                mutant);
    }

    @Override
    public LockBackend backend(Host host, ClientIdentity identity) {
        List<String> seeds = cluster.nodes().stream().map(Server::name).limit(2).toList();
        LockBackend backend =
                SimulatedDriver.clusterBackend(host, network, seeds, cluster::named, plan.claimTime(), identity.name());
        return mutant.backend().apply(host, mutant.member().apply(host, backend));
    }

    @Override
    public List<ClusterNode> servers() {
        return cluster.nodes();
    }

    /** Moves slots to another shard and back, mostly those of the locks, and replaces masters. */
    @Override
    public void planFaults(Plan planned, long nanos, BooleanSupplier isOver) {
        if (planned.is(Plan.Weather.CALM)) {
            // Waiters keep their order when the slot of a channel moves, and only then.
            for (int i = world.below(3); i > 0; i--) {
                within(
                        nanos,
                        isOver,
                        () -> someChannel().ifPresent(slot -> cluster.move(slot, World.ms(1), World.ms(1))));
            }
            return;
        }
        long lease = planned.lease().toNanos();
        long pace = world.oneOf(World.ms(1), lease / 100, lease / 10, lease / 3);
        long most = world.oneOf(lease / 3, 3 * lease);
        for (int i = 1 + world.below(3); i > 0; i--) {
            within(nanos, isOver, () -> cluster.move(someSlot(), pace, most));
        }
        for (int i = world.chance(0.3) ? 1 + world.below(2) : 0; i > 0; i--) {
            within(nanos, isOver, () -> cluster.handOver(world.below(cluster.shards())));
        }
        for (int i = planned.is(Plan.Weather.WILD) && !planned.jumps() ? 1 + world.below(2) : 0; i > 0; i--) {
            within(
                    nanos,
                    isOver,
                    () -> cluster.fail(
                            world.below(cluster.shards()),
                            world.chance(0.5) ? world.between(World.ms(1), lease / 3) : world.between(0, 2 * lease)));
        }
    }

    private void within(long nanos, BooleanSupplier isOver, Runnable fault) {
        world.at(world.between(0, nanos), () -> {
            if (!isOver.getAsBoolean()) {
                fault.run();
            }
        });
    }

    private int someSlot() {
        int ofLock = ClusterNode.slotOf("stock" + (world.chance(0.8) ? 0 : world.below(plan.locks())));
        return world.chance(0.75) ? ofLock : someChannel().orElse(ofLock);
    }

    private Optional<Integer> someChannel() {
        List<Integer> slots = cluster.masters()
                .flatMap(master -> master.shardChannels().stream())
                .map(ClusterNode::slotOf)
                .toList();
        return slots.isEmpty() ? Optional.empty() : Optional.of(world.oneOf(slots));
    }

    /** A restarted master takes no commands for two seconds. */
    @Override
    public long recoveryNanos(Plan planned) {
        return World.ms(5_000);
    }

    /** Returns the keys at the owners of their slots only: a failover during a move may leave others behind. */
    @Override
    public List<String> leftovers() {
        List<String> left = new ArrayList<>();
        cluster.masters()
                .forEach(master -> master.leftovers().stream()
                        .filter(key -> cluster.shardOf(ClusterNode.slotOf(key)) == master.shard())
                        .forEach(key -> left.add(master.name() + " " + key)));
        return left;
    }
}
