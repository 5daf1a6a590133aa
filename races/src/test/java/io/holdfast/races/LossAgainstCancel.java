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
 * The lease is lost while the subscriber of its work cancels.
 */
@JCStressTest
@Outcome(
        id = {"nothing, free, released, stopped", "LockLostException, free, released, stopped"},
        expect = ACCEPTABLE,
        desc = "In either order, the work is cancelled and the claim released once.")
@Outcome(id = ".*, running", expect = FORBIDDEN, desc = "The work continues without a lock.")
@Outcome(id = ".*, held, .*", expect = FORBIDDEN, desc = "Neither side released.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
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
