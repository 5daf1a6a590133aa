package io.holdfast.proof.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** Faults after which etcd has no leader or no majority, or has forgotten old revisions. */
final class EtcdFaults {

    private final World world;
    private final Network network;
    private final EtcdGroup group;
    private final long lease;
    private final BooleanSupplier isOver;
    private final SplittableRandom chances;

    EtcdFaults(World world, Network network, EtcdGroup group, Plan plan, BooleanSupplier isOver) {
        this.world = world;
        this.network = network;
        this.group = group;
        lease = plan.lease().toNanos();
        this.isOver = isOver;
        chances = world.chancesOf("faults of etcd", 0);
    }

    /** Plans the loss of leaders in a third of the schedules, of the majority in a sixth, and compactions in a quarter; each within the given time. */
    void planWithin(long nanos, Plan plan) {
        boolean losesLeaders = chances.nextInt(3) == 0;
        boolean losesTheMajority = chances.nextInt(6) == 0;
        boolean compacts = chances.nextInt(4) == 0;
        for (int i = 0; compacts && i < 4; i++) {
            at(nanos, () -> group.data().compact());
        }
        if (plan.is(Plan.Weather.CALM) || plan.isTight()) {
            return;
        }
        for (int i = 0; losesLeaders && i < 2; i++) {
            at(nanos, this::loseTheLeader);
        }
        if (losesTheMajority) {
            at(nanos, this::loseTheMajority);
        }
        if (plan.is(Plan.Weather.WILD)) {
            at(nanos, this::revokeALease);
        }
    }

    private void at(long nanos, Runnable fault) {
        world.at(chances.nextLong(nanos), () -> {
            if (!isOver.getAsBoolean()) {
                fault.run();
            }
        });
    }

    private void loseTheLeader() {
        group.members().stream().filter(EtcdMember::leads).findFirst().ifPresent(leader -> {
            // Elections take up to two seconds.
            long nanos = chances.nextLong(lease / 10, 2 * lease + World.ms(4_000));
            List<EtcdMember> others =
                    group.members().stream().filter(it -> it != leader).toList();
            switch (chances.nextInt(4)) {
                case 0 -> leader.crash(nanos, false);
                case 1 -> leader.pause(nanos);
                case 2 -> others.forEach(it -> network.stall(leader.name(), it.name(), nanos));
                default ->
                    others.forEach(it -> {
                        network.stall(leader.name(), it.name(), nanos);
                        network.stall(it.name(), leader.name(), nanos);
                    });
            }
        });
    }

    /** Stops two or all members. */
    private void loseTheMajority() {
        List<EtcdMember> down = new ArrayList<>(group.members());
        if (chances.nextInt(3) > 0) {
            down.remove(chances.nextInt(down.size()));
        }
        long nanos = chances.nextLong(lease / 10, 2 * lease);
        down.forEach(it -> it.crash(nanos + chances.nextLong(lease / 4), false));
    }

    /** As an operator may do. The guarantees except it: the holder learns of it by its next renewal. */
    private void revokeALease() {
        List<Long> all = List.copyOf(group.data().leases());
        EtcdMember member = group.members().get(0);
        if (!all.isEmpty() && member.isRunning()) {
            member.revoke(all.get(chances.nextInt(all.size())));
        }
    }
}
