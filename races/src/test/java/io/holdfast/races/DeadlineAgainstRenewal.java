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
 * The holder sees the local deadline pass while the answer to a renewal is being taken in. What it was told once
 * stays so.
 */
@JCStressTest
@Outcome(id = "valid, valid, nothing", expect = ACCEPTABLE, desc = "Renewed before.")
@Outcome(
        id = "over, over, EXPIRED",
        expect = ACCEPTABLE,
        desc = "Seen to be over: the answer came too late, and the loss is told.")
@Outcome(id = "over, valid, .*", expect = FORBIDDEN, desc = "A lease comes back to life.")
@Outcome(id = "over, over, nothing", expect = FORBIDDEN, desc = "Over, and nobody is told.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
@State
public class DeadlineAgainstRenewal {

    private final Bench bench = new Bench();
    private final LockLease lease = bench.lease();
    private final Told<LossReason> loss = new Told<>();

    public DeadlineAgainstRenewal() {
        lease.onLoss().subscribe(loss);
        bench.timer.moveTo(Bench.LEASE.dividedBy(2).toNanos());
    }

    @Actor
    public void look(LLL_Result r) {
        bench.timer.jumpTo(Bench.LEASE.toNanos());
        r.r1 = lease.isValid() ? "valid" : "over";
        r.r2 = lease.isValid() ? "valid" : "over";
    }

    @Actor
    public void renewal() {
        bench.store.answerRenewal(new Renewal.Held(Bench.LEASE));
    }

    @Arbiter
    public void after(LLL_Result r) {
        bench.timer.moveTo(Bench.LEASE.toNanos());
        r.r3 = loss.toString();
    }
}
