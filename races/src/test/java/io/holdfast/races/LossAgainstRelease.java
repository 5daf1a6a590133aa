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
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * The back end signals the loss of the lease while the holder releases.
 */
@JCStressTest
@Outcome(id = "done, done, free, released", expect = ACCEPTABLE, desc = "Released first: there is nothing to lose.")
@Outcome(
        id = "DISCONNECTED, LockLostException, free, released",
        expect = ACCEPTABLE,
        desc = "Lost first: onLoss() and release() report it, and the client releases the claim at the back end.")
@Outcome(
        id = {"done, LockLostException, .*", "DISCONNECTED, done, .*"},
        expect = FORBIDDEN,
        desc = "onLoss() and release() report different ends of one lease.")
@Outcome(id = ".*, held", expect = FORBIDDEN, desc = "The lease was lost, and never released.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class LossAgainstRelease {

    private final Bench bench = new Bench();
    private final LockLease lease = bench.lease();
    private final Told<LossReason> loss = new Told<>();
    private final Told<Void> released = new Told<>();

    public LossAgainstRelease() {
        lease.onLoss().subscribe(loss);
    }

    @Actor
    public void loss() {
        bench.store.signal(new WatchSignal.Lost(LossReason.DISCONNECTED));
    }

    @Actor
    public void release() {
        lease.release().subscribe(released);
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = loss.toString();
        r.r2 = released.toString();
        r.r3 = bench.store.standing();
    }
}
