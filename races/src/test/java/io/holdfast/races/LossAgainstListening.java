package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.spi.WatchSignal;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * The lease is lost while its holder subscribes to {@code onLoss()}.
 */
@JCStressTest
@Outcome(id = "DISCONNECTED", expect = ACCEPTABLE, desc = "The holder gets the loss, in either order.")
@Outcome(id = "nothing", expect = FORBIDDEN, desc = "The holder never gets the loss: its work would continue.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class LossAgainstListening {

    private final Bench bench = new Bench();
    private final LockLease lease = bench.lease();
    private final Told<LossReason> loss = new Told<>();

    @Actor
    public void loss() {
        bench.store.signal(new WatchSignal.Lost(LossReason.DISCONNECTED));
    }

    @Actor
    public void listen() {
        lease.onLoss().subscribe(loss);
    }

    @Arbiter
    public void after(L_Result r) {
        r.r1 = loss.toString();
    }
}
