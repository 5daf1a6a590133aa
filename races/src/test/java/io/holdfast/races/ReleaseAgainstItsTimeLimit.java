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
 * The back end answers the release at the time limit of the request. Then the clock advances.
 */
@JCStressTest
@Outcome(id = "done, done, free, released", expect = ACCEPTABLE, desc = "Answered in time.")
@Outcome(
        id = "done, done, free, released 2 times",
        expect = ACCEPTABLE,
        desc = "The answer came too late: the release ends for its caller, and the client repeats the request.")
@Outcome(
        id = {"nothing, .*", ".*, nothing, .*"},
        expect = FORBIDDEN,
        desc = "The caller waits for ever.")
@Outcome(
        id = ".*, LockLostException, .*",
        expect = FORBIDDEN,
        desc = "The repeated release finds no claim, and reports a loss.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class ReleaseAgainstItsTimeLimit {

    private final Bench bench = new Bench();
    private final LockLease lease = bench.lease();
    private final Told<LossReason> loss = new Told<>();
    private final Told<Void> released = new Told<>();

    public ReleaseAgainstItsTimeLimit() {
        lease.onLoss().subscribe(loss);
        bench.store.holdReleases();
        lease.release().subscribe(released);
    }

    @Actor
    public void answer() {
        bench.store.answerRelease();
    }

    @Actor
    public void timeIsUp() {
        bench.timer.moveTo(Bench.OPERATION.toNanos());
    }

    @Arbiter
    public void after(LLL_Result r) {
        bench.timer.moveTo(Bench.OPERATION.multipliedBy(2).toNanos());
        r.r1 = loss.toString();
        r.r2 = released.toString();
        r.r3 = bench.store.standing();
    }
}
