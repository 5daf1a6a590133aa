package io.holdfast.proof.sim;

import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.SimulatedCurator;
import java.util.List;

/** A simulated ensemble of three, and the real back end in each process. The session time-out is the lease of the plan. */
final class ZooKeeperStore implements Store {

    private final Network network;
    private final Mutant mutant;
    private final Ensemble ensemble;

    ZooKeeperStore(World world, Network network, Mutant mutant, Plan plan) {
        this.network = network;
        this.mutant = mutant;
        ensemble = new Ensemble(world, network, plan.lease().toNanos());
    }

    @Override
    public LockBackend backend(Host host) {
        LockBackend backend = SimulatedCurator.backend(host, network, ensemble);
        return mutant.backend().apply(host, mutant.member().apply(host, backend));
    }

    @Override
    public List<? extends Server> servers() {
        return ensemble.servers();
    }

    @Override
    public long recoveryNanos(Plan plan) {
        return 3 * plan.lease().toNanos() + World.ms(5_000);
    }

    @Override
    public List<String> leftovers() {
        return ensemble.leftovers();
    }
}
