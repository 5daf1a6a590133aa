package io.holdfast.proof.sim;

import io.holdfast.internal.tenure.Bounds;
import io.holdfast.internal.tenure.SimulatedTenures;
import io.holdfast.spi.LockBackend;
import java.util.List;
import java.util.SplittableRandom;

/** Adds a hand-over inside each process to another store. */
final class TenureStore implements Store {

    private final Store below;
    private final Mutant mutant;
    private final Bounds bounds;

    TenureStore(Store below, World world, Plan plan, Mutant mutant) {
        this.below = below;
        this.mutant = mutant;
        SplittableRandom chances = world.chancesOf("hand-over", 0);
        bounds = new Bounds(1 + chances.nextInt(4) / 3, plan.lease().toNanos() * (1 + chances.nextInt(4)) / 8);
    }

    @Override
    public LockBackend backend(Host host, ClientIdentity identity) {
        return SimulatedTenures.over(below.backend(host, identity), host, bounds, mutant.handOver());
    }

    @Override
    public int mostPerTurn() {
        return 1 + bounds.maxHandOvers();
    }

    @Override
    public List<? extends Server> servers() {
        return below.servers();
    }

    @Override
    public List<RedisPair> pairs() {
        return below.pairs();
    }

    @Override
    public boolean isFair() {
        return false;
    }

    @Override
    public boolean hasFairTurns() {
        return below.isFair();
    }

    @Override
    public boolean hasSemaphores() {
        return below.hasSemaphores();
    }

    @Override
    public boolean mayHaveClones() {
        return below.mayHaveClones();
    }

    @Override
    public boolean readersMayShare() {
        return below.readersMayShare();
    }

    @Override
    public long settlingNanos() {
        return below.settlingNanos();
    }

    @Override
    public long recoveryNanos(Plan plan) {
        return below.recoveryNanos(plan);
    }

    @Override
    public void ends() {
        below.ends();
    }

    @Override
    public List<String> leftovers() {
        return below.leftovers();
    }
}
