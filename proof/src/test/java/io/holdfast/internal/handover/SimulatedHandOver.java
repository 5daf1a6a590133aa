package io.holdfast.internal.handover;

import io.holdfast.internal.handover.WrongHandOvers.Decisions;
import io.holdfast.proof.sim.Host;
import io.holdfast.spi.LockBackend;

/** The hand-over in a simulated process. */
public final class SimulatedHandOver {

    private SimulatedHandOver() {}

    /** Makes the real hand-over, with the given decisions, if there are any. */
    public static LockBackend over(LockBackend store, Host host, Bounds bounds, Decisions decisions) {
        return new HandingOver(store, now -> decisions.of(bounds, now), host);
    }
}
