package io.holdfast.proof.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Faults after which an ensemble has no leader, or no majority. */
final class EnsembleFaults {

    private final World world;
    private final Network network;
    private final long lease;
    private final List<ZooServer> servers;
    private final List<Host> hosts;
    private final Predicate<Host> holds;
    private final SplittableRandom chances;

    EnsembleFaults(
            World world,
            Network network,
            Plan plan,
            List<? extends Server> servers,
            List<Host> hosts,
            Predicate<Host> holds) {
        this.world = world;
        this.network = network;
        lease = plan.lease().toNanos();
        this.servers = servers.stream()
                .filter(ZooServer.class::isInstance)
                .map(ZooServer.class::cast)
                .toList();
        this.hosts = hosts;
        this.holds = holds;
        chances = world.chancesOf("elections", 0);
    }

    /** Plans the loss of leaders in a third of the schedules, and of the majority in a sixth; each within the given time. */
    void planWithin(long nanos, Consumer<Runnable> unlessOver) {
        boolean losesLeaders = chances.nextInt(3) == 0;
        boolean losesTheMajority = chances.nextInt(6) == 0;
        if (servers.isEmpty()) {
            return;
        }
        for (int i = 0; losesLeaders && i < 2; i++) {
            world.at(
                    chances.nextLong(nanos),
                    chances.nextBoolean() ? () -> partition(unlessOver) : () -> unlessOver.accept(this::loseTheLeader));
        }
        if (losesTheMajority) {
            world.at(chances.nextLong(nanos), () -> unlessOver.accept(this::loseTheMajority));
        }
    }

    private void loseTheLeader() {
        servers.stream().filter(ZooServer::leads).findFirst().ifPresent(leader -> {
            long nanos = chances.nextLong(lease / 10, 2 * lease);
            switch (chances.nextInt(4)) {
                case 0 -> leader.crash(nanos, false);
                case 1 -> leader.pause(nanos);
                case 2 -> others(leader).forEach(it -> network.stall(leader.name(), it.name(), nanos));
                default -> others(leader).forEach(it -> network.stall(it.name(), leader.name(), nanos));
            }
        });
    }

    /** Cuts the leader and one of its clients off from all others, usually as soon as that client holds a lock. */
    private void partition(Consumer<Runnable> unlessOver) {
        unlessOver.accept(() -> servers.stream()
                .filter(ZooServer::leads)
                .findFirst()
                .ifPresent(leader -> {
                    Host holder = hosts.stream()
                            .filter(it -> holds.test(it) && isConnected(it, leader))
                            .findFirst()
                            .orElse(null);
                    if (holder == null && chances.nextInt(100) > 0) {
                        world.after(lease / 20, () -> partition(unlessOver));
                    } else {
                        cutOff(leader, holder, chances.nextLong(lease, 4 * lease));
                    }
                }));
    }

    /**
     * Resets the connections of the other servers to the leader, as a firewall may do. The leader does not notice, and continues until its sync limit.
     */
    private void cutOff(ZooServer leader, @Nullable Host with, long nanos) {
        for (ZooServer other : others(leader)) {
            network.stall(leader.name(), other.name(), nanos);
            network.stall(other.name(), leader.name(), nanos);
            other.receive(other.peer()::lookForLeader);
            if (with != null) {
                network.stall(with.name(), other.name(), nanos);
                network.stall(other.name(), with.name(), nanos);
            }
        }
        for (Host host : hosts) {
            if (host != with) {
                network.stall(leader.name(), host.name(), nanos);
                network.stall(host.name(), leader.name(), nanos);
            }
        }
    }

    static boolean isConnected(Host host, Server server) {
        return server.wires().stream().anyMatch(wire -> wire.client() == host && wire.isUsable());
    }

    private List<ZooServer> others(ZooServer leader) {
        return servers.stream().filter(it -> it != leader).toList();
    }

    /** Stops two or all servers, some of the time at once. */
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
