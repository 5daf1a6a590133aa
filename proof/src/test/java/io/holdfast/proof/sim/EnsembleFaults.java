package io.holdfast.proof.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** What costs an ensemble its leader, or its majority. */
final class EnsembleFaults {

    private final World world;
    private final Network network;
    private final long lease;
    private final List<ZooServer> servers;
    private final SplittableRandom chances;

    EnsembleFaults(World world, Network network, Plan plan, List<? extends Server> servers) {
        this.world = world;
        this.network = network;
        lease = plan.lease().toNanos();
        this.servers = servers.stream()
                .filter(ZooServer.class::isInstance)
                .map(ZooServer.class::cast)
                .toList();
        chances = world.chancesOf("elections", 0);
    }

    /** In a third of the schedules leaders are lost, in a sixth the majority is; each within so much time. */
    void planWithin(long nanos, Consumer<Runnable> unlessOver) {
        boolean losesLeaders = chances.nextInt(3) == 0;
        boolean losesTheMajority = chances.nextInt(6) == 0;
        if (servers.isEmpty()) {
            return;
        }
        for (int i = 0; losesLeaders && i < 2; i++) {
            world.at(chances.nextLong(nanos), () -> unlessOver.accept(this::loseTheLeader));
        }
        if (losesTheMajority) {
            world.at(chances.nextLong(nanos), () -> unlessOver.accept(this::loseTheMajority));
        }
    }

    private void loseTheLeader() {
        servers.stream().filter(ZooServer::leads).findFirst().ifPresent(leader -> {
            long nanos = chances.nextLong(lease / 10, 2 * lease);
            switch (chances.nextInt(6)) {
                case 0 -> leader.crash(nanos, false);
                case 1 -> leader.pause(nanos);
                case 2 -> others(leader).forEach(it -> network.stall(leader.name(), it.name(), nanos));
                case 3 -> others(leader).forEach(it -> network.stall(it.name(), leader.name(), nanos));
                default -> depose(leader, 2 * nanos);
            }
        });
    }

    /**
     * It is cut off, and the connections of the others are reset, as a firewall may do; it does not hear of that, and goes on until its sync
     * limit. So do the clients that are connected to it.
     */
    private void depose(ZooServer leader, long nanos) {
        for (ZooServer other : others(leader)) {
            network.stall(leader.name(), other.name(), nanos);
            network.stall(other.name(), leader.name(), nanos);
            other.receive(other.peer()::look);
        }
    }

    private List<ZooServer> others(ZooServer leader) {
        return servers.stream().filter(it -> it != leader).toList();
    }

    /** Two or all of them are down, some of the time at once. */
    private void loseTheMajority() {
        List<ZooServer> down = new ArrayList<>(servers);
        if (chances.nextInt(3) > 0) {
            down.remove(chances.nextInt(down.size()));
        }
        long nanos = chances.nextLong(lease / 10, 2 * lease);
        for (ZooServer server : down) {
            server.crash(nanos + chances.nextLong(lease / 4), false);
        }
    }
}
