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
 * The grant starts the work under a lock while the lease is lost already.
 */
@JCStressTest
@Outcome(id = "LockLostException, free, released, not begun", expect = ACCEPTABLE, desc = "Lost before the work began.")
@Outcome(
        id = "LockLostException, free, released, stopped",
        expect = ACCEPTABLE,
        desc = "Begun before: the work is cancelled.")
@Outcome(
        id = "nothing, free, released, not begun",
        expect = ACCEPTABLE,
        desc = "Lost before the emission: the acquisition starts again with a new claim.")
@Outcome(
        id = "nothing, held, running",
        expect = ACCEPTABLE,
        desc = "The loss came before the grant: the client asks the back end at once, see LossAgainstGrant.")
@Outcome(id = "LockLostException, .*, running", expect = FORBIDDEN, desc = "The work continues without a lock.")
@Outcome(id = "LockLostException, held, .*", expect = FORBIDDEN, desc = "Never given back.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class StartAgainstLoss {

    private final Bench bench = new Bench();
    private final Work work = new Work();
    private final Told<String> told = new Told<>();

    public StartAgainstLoss() {
        bench.lock.withLock(work.mono()).subscribe(told);
    }

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void loss() {
        bench.store.signal(new WatchSignal.Lost(LossReason.DISCONNECTED));
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = told.toString();
        r.r2 = bench.store.standing();
        r.r3 = work.standing();
    }
}
