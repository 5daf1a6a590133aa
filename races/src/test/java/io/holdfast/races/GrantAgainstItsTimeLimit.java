package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The grant arrives at the time limit of its request. Then the clock advances, and the back end grants the next attempt,
 * too.
 */
@JCStressTest
@Outcome(id = "lease, held", expect = ACCEPTABLE, desc = "Granted in time, or by the next attempt of the same claim.")
@Outcome(
        id = "lease, held, released",
        expect = FORBIDDEN,
        desc = "The release of the late grant also released the lease that the next attempt got.")
@Outcome(id = "nothing, held", expect = FORBIDDEN, desc = "Granted to nobody.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class GrantAgainstItsTimeLimit {

    private final Bench bench = new Bench();
    private final Holder holder = new Holder();

    public GrantAgainstItsTimeLimit() {
        bench.lock.acquire().subscribe(holder);
    }

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void timeIsUp() {
        bench.timer.moveTo(Bench.OPERATION.toNanos());
    }

    @Arbiter
    public void after(LL_Result r) {
        bench.timer.moveTo(Bench.OPERATION.multipliedBy(2).toNanos());
        bench.store.grant();
        r.r1 = holder.saw();
        r.r2 = bench.store.standing();
    }
}
