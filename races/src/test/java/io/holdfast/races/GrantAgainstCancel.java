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
 * The grant of the back end arrives while the subscriber cancels.
 */
@JCStressTest
@Outcome(id = "lease, held", expect = ACCEPTABLE, desc = "Emitted first: the subscriber owns the lease.")
@Outcome(
        id = "nothing, free, released",
        expect = ACCEPTABLE,
        desc = "Cancelled first: the client releases the grant, and the subscriber never sees it.")
@Outcome(
        id = "lease that is over, free, released",
        expect = ACCEPTABLE,
        desc = "Cancelled during the emission: the client releases the lease, although the subscriber has it.")
@Outcome(id = "nothing, held", expect = FORBIDDEN, desc = "The lease has no owner, and the client does not release it.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
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
