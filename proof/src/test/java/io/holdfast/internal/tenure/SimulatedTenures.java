package io.holdfast.internal.tenure;

import io.holdfast.internal.tenure.WrongTenures.Decisions;
import io.holdfast.proof.sim.Host;
import io.holdfast.spi.LockBackend;

/** The hand-over in a simulated process. */
public final class SimulatedTenures {

    private SimulatedTenures() {}

    /** Makes the real hand-over, with the given decisions, if there are any. */
    public static LockBackend over(LockBackend store, Host host, Bounds bounds, Decisions decisions) {
        return new TenureBackend(store, now -> decisions.of(bounds, now), host);
    }
}
