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
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The work under a lock ends while the lease is lost.
 */
@JCStressTest
@Outcome(id = "result, free, released", expect = ACCEPTABLE, desc = "Ended and released before.")
@Outcome(
        id = "LockLostException, free, released",
        expect = ACCEPTABLE,
        desc = "Lost before the release: the result does not count.")
@Outcome(id = "nothing, .*", expect = FORBIDDEN, desc = "The subscriber never gets the end.")
@Outcome(id = ".*, held", expect = FORBIDDEN, desc = "Never given back.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class WorkEndAgainstLoss {

    private final Bench bench = new Bench();
    private final Work work = new Work();
    private final Told<String> told = new Told<>();

    public WorkEndAgainstLoss() {
        bench.lock.withLock(work.mono()).subscribe(told);
        bench.store.grant();
    }

    @Actor
    public void end() {
        work.end();
    }

    @Actor
    public void loss() {
        bench.store.signal(new WatchSignal.Lost(LossReason.DISCONNECTED));
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = told.toString();
        r.r2 = bench.store.standing();
    }
}
