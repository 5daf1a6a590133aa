package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockLease;
import io.holdfast.LossReason;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * The local deadline passes while the holder releases.
 */
@JCStressTest
@Outcome(id = "done, done, free, released", expect = ACCEPTABLE, desc = "Released before.")
@Outcome(
        id = "EXPIRED, LockLostException, free, released",
        expect = ACCEPTABLE,
        desc = "Expired first: onLoss() and release() report it, and the client releases the claim at the back end.")
@Outcome(
        id = {"done, LockLostException, .*", "EXPIRED, done, .*"},
        expect = FORBIDDEN,
        desc = "onLoss() and release() report different ends of one lease.")
@Outcome(id = ".*, held", expect = FORBIDDEN, desc = "The lease expired, and was never released.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class DeadlineAgainstRelease {

    private final Bench bench = new Bench();
    private final LockLease lease = bench.lease();
    private final Told<LossReason> loss = new Told<>();
    private final Told<Void> released = new Told<>();

    public DeadlineAgainstRelease() {
        lease.onLoss().subscribe(loss);
        bench.timer.jumpTo(Bench.DEADLINE - 1);
    }

    @Actor
    public void deadline() {
        bench.timer.moveTo(Bench.DEADLINE);
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
