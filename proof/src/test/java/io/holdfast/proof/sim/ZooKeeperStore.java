package io.holdfast.proof.sim;

import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.SimulatedCurator;
import java.time.Duration;
import java.util.List;

/** A simulated ensemble of three, and the real back end in each process. The session time-out is the lease of the plan, or half of it. */
final class ZooKeeperStore implements Store {

    private final Network network;
    private final Mutant mutant;
    private final Ensemble ensemble;

    ZooKeeperStore(World world, Network network, Mutant mutant, Plan plan) {
        this.network = network;
        this.mutant = mutant;
        // Otherwise no answer in time would be late enough to show from which moment a lease counts.
        ensemble = new Ensemble(world, network, plan.lease().toNanos() / (plan.hasLastWords() ? 3 : world.oneOf(1, 2)));
    }

    /** Clones would share the session of their snapshot. If one of them ends it, both lose their locks. The guarantees exclude this. */
    @Override
    public boolean mayHaveClones() {
        return false;
    }

    @Override
    public LockBackend backend(Host host, ClientIdentity identity) {
        LockBackend backend = SimulatedCurator.backend(host, network, ensemble, mutant.part());
        LockBackend counted = mutant.session().apply(Duration.ofNanos(ensemble.timeoutNanos()), backend);
        return mutant.backend().apply(host, mutant.member().apply(host, counted));
    }

    @Override
    public List<? extends Server> servers() {
        return ensemble.servers();
    }

    @Override
    public long settlingNanos() {
        return World.ms(2_000); // servers ping all the time, so it costs much time
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
