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
 * The holder reads {@code isValid()} after the local deadline, while the client processes the answer to a renewal. A
 * lease that was once invalid stays invalid.
 */
@JCStressTest
@Outcome(id = "valid, valid, nothing", expect = ACCEPTABLE, desc = "Renewed before.")
@Outcome(
        id = "over, over, EXPIRED",
        expect = ACCEPTABLE,
        desc = "The holder saw the end: the answer came too late, and the loss is signalled.")
@Outcome(id = "over, valid, .*", expect = FORBIDDEN, desc = "An invalid lease becomes valid again.")
@Outcome(id = "over, over, nothing", expect = FORBIDDEN, desc = "The lease is over, and no loss is signalled.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
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
    public void readValidity(LLL_Result r) {
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
