package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.spi.Renewal;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * The back end answers a renewal with "not held", while the holder releases.
 */
@JCStressTest
@Outcome(
        id = "done, done, free, released",
        expect = ACCEPTABLE,
        desc = "The lease was released before the back end forgot it.")
@Outcome(id = "NOT_HELD, LockLostException, free, released", expect = ACCEPTABLE, desc = "The release found the loss.")
@Outcome(
        id = "NOT_HELD, LockLostException, free",
        expect = ACCEPTABLE,
        desc = "The renewal found the loss: there is nothing to release.")
@Outcome(
        id = {"done, LockLostException, .*", "NOT_HELD, done, .*"},
        expect = FORBIDDEN,
        desc = "onLoss() and release() report different ends of one lease.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class DenialAgainstRelease {

    private final Bench bench = new Bench();
    private final LockLease lease = bench.lease();
    private final Told<LossReason> loss = new Told<>();
    private final Told<Void> released = new Told<>();

    public DenialAgainstRelease() {
        lease.onLoss().subscribe(loss);
        bench.timer.moveTo(Bench.LEASE.dividedBy(2).toNanos());
    }

    @Actor
    public void denial() {
        bench.store.forget();
        bench.store.answerRenewal(new Renewal.NotHeld());
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
