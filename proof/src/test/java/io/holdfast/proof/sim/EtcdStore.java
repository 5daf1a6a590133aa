package io.holdfast.proof.sim;

import io.holdfast.etcd.EtcdLockBackend;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** Three simulated members, and the real back end in each process. */
final class EtcdStore implements Store {

    private final World world;
    private final Network network;
    private final Mutant mutant;
    private final Plan plan;
    private final EtcdGroup group;
    private final Duration presence;

    /** Few in a quarter of the schedules, so that some claims are refused. */
    private final int maxWaiters;

    EtcdStore(World world, Network network, Mutant mutant, Plan plan) {
        this.world = world;
        this.network = network;
        this.mutant = mutant;
        this.plan = plan;
        group = new EtcdGroup(world, network, mutant.isEtcdOld());
        presence = Duration.ofSeconds(world.oneOf(2, 2, 6));
        SplittableRandom chances = world.chancesOf("most waiters", 0);
        boolean isCalm = plan.is(Plan.Weather.CALM); // there the queue must serve all
        maxWaiters = !isCalm && chances.nextInt(4) == 0 ? 1 + chances.nextInt(2) : 1_000;
    }

    /** Clones would share the leases of their snapshot. The guarantees exclude this. */
    @Override
    public boolean mayHaveClones() {
        return false;
    }

    @Override
    public LockBackend backend(Host host, ClientIdentity identity) {
        LockBackend backend = EtcdLockBackend.builder(SimulatedEtcd.client(host, network, group, mutant.etcd()))
                .timer(host)
                .presence(presence)
                .maxWaiters(maxWaiters)
                .build();
        return mutant.backend().apply(host, mutant.member().apply(host, backend));
    }

    @Override
    public List<? extends Server> servers() {
        return group.members();
    }

    @Override
    public void planFaults(Plan of, long nanos, BooleanSupplier isOver) {
        new EtcdFaults(world, network, group, of, isOver).planWithin(nanos, of);
    }

    /** The longest lease of an abandoned claim. */
    private long abandonedNanos() {
        return plan.lease().toNanos() * 3 / 2 + presence.toNanos() + World.ms(3_000);
    }

    @Override
    public long settlingNanos() {
        return World.ms(5_000) + abandonedNanos();
    }

    @Override
    public long recoveryNanos(Plan of) {
        return World.ms(15_000) + abandonedNanos();
    }

    @Override
    public List<String> leftovers() {
        return group.data().keys().stream()
                .filter(it -> it.startsWith("holdfast/line/") || it.startsWith("holdfast/mark/"))
                .toList();
    }
}
