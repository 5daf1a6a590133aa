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
 * The grant of the store comes while the subscriber cancels.
 */
@JCStressTest
@Outcome(id = "lease, held", expect = ACCEPTABLE, desc = "Emitted before: the lease is the subscriber's.")
@Outcome(
        id = "nothing, free, released",
        expect = ACCEPTABLE,
        desc = "Cancelled before: the grant is given back unseen.")
@Outcome(
        id = "lease that is over, free, released",
        expect = ACCEPTABLE,
        desc = "Cancelled while the lease was handed over: given back, although the subscriber has it.")
@Outcome(id = "nothing, held", expect = FORBIDDEN, desc = "Nobody has the lease and nobody gives it back.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
@State
public class GrantAgainstCancel {

    private final Bench bench = new Bench();
    private final Holder holder = new Holder();

    public GrantAgainstCancel() {
        bench.lock.acquire().subscribe(holder);
    }

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void cancel() {
        holder.cancel();
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = holder.saw();
        r.r2 = bench.store.standing();
    }
}
