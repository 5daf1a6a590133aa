package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LossReason;
import io.holdfast.spi.WatchSignal;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * The lease is lost while the subscriber of the work under it leaves.
 */
@JCStressTest
@Outcome(
        id = {"nothing, free, released, stopped", "LockLostException, free, released, stopped"},
        expect = ACCEPTABLE,
        desc = "The work is cancelled and the claim given back once, whoever was first.")
@Outcome(id = ".*, running", expect = FORBIDDEN, desc = "The work goes on without a lock.")
@Outcome(id = ".*, held, .*", expect = FORBIDDEN, desc = "Each left the release to the other.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
@State
public class LossAgainstCancel {

    private final Bench bench = new Bench();
    private final Work work = new Work();
    private final Told<String> told = new Told<>();

    public LossAgainstCancel() {
        bench.lock.withLock(work.mono()).subscribe(told);
        bench.store.grant();
    }

    @Actor
    public void loss() {
        bench.store.signal(new WatchSignal.Lost(LossReason.DISCONNECTED));
    }

    @Actor
    public void cancel() {
        told.cancel();
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = told.toString();
        r.r2 = bench.store.standing();
        r.r3 = work.standing();
    }
}
