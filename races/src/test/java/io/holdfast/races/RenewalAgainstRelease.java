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
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * A renewal is due while the holder releases. After the round the renewal, if there was one, is answered: not held.
 */
@JCStressTest
@Outcome(id = "done, done, free, released, no renewal", expect = ACCEPTABLE, desc = "Released before.")
@Outcome(
        id = "done, done, free, released, renewal before it",
        expect = ACCEPTABLE,
        desc = "The renewal was sent first. Its late answer does not count any more.")
@Outcome(
        id = "done, done, free, released, renewal after it",
        expect = ACCEPTABLE,
        desc =
                "The renewal was decided before the release and reached the store after it: it creates nothing, and its answer does not count.")
@Outcome(id = "NOT_HELD, .*", expect = FORBIDDEN, desc = "A released lease is reported as lost.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class RenewalAgainstRelease {

    private static final long RENEWAL_IS_DUE = Bench.LEASE.dividedBy(2).toNanos();

    private final Bench bench = new Bench();
    private final LockLease lease = bench.lease();
    private final Told<LossReason> loss = new Told<>();
    private final Told<Void> released = new Told<>();

    public RenewalAgainstRelease() {
        lease.onLoss().subscribe(loss);
        bench.timer.jumpTo(RENEWAL_IS_DUE);
    }

    @Actor
    public void renewalIsDue() {
        bench.timer.moveTo(RENEWAL_IS_DUE);
    }

    @Actor
    public void release() {
        lease.release().subscribe(released);
    }

    @Arbiter
    public void after(LLLL_Result r) {
        bench.store.answerRenewal(new Renewal.NotHeld());
        r.r1 = loss.toString();
        r.r2 = released.toString();
        r.r3 = bench.store.standing();
        r.r4 = bench.store.renewals() == 0
                ? "no renewal"
                : bench.store.renewalsAfterRelease() == 0 ? "renewal before it" : "renewal after it";
    }
}
